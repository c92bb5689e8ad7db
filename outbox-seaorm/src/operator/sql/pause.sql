-- $1 topic, $2 who, $3 why.
INSERT INTO "outbox_topic" (topic, paused_by, why) VALUES ($1, $2, $3)
