-- $1 position, which the event gets back.
INSERT INTO "outbox_event" (seq, id, aggregatetype, aggregateid, topic, payload, headers,
    occurred_at, ordered, created_at)
SELECT d.seq, d.id, d.aggregatetype, d.aggregateid, d.topic, d.payload, d.headers,
    d.occurred_at, d.ordered, d.created_at
FROM "outbox_dead" AS d WHERE d.seq = $1
