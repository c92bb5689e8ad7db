-- $1 topic.
SELECT t.topic FROM "outbox_topic" AS t WHERE t.topic = $1
