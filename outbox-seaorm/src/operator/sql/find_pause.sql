-- $1 topic.
SELECT t.topic FROM "outbox_topic" AS t WHERE {is t.topic $1}
