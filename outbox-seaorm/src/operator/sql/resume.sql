-- $1 topic.
DELETE FROM "outbox_topic" WHERE topic = $1
