-- $1 position. The event gets a new one.
INSERT INTO "outbox_event" (id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, created_at)
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, d.payload, d.headers, d.occurred_at,
    d.ordered, d.created_at
FROM "outbox_dead" AS d WHERE d.seq = $1
