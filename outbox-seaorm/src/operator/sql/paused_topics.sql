SELECT t.topic, t.paused_by, t.why, {time t.paused_at paused_at}
FROM "outbox_topic" AS t ORDER BY t.topic
