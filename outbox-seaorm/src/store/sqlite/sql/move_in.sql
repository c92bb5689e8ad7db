-- ?1 now, ?2 limit. The order of this SELECT is the order of the positions.
INSERT INTO "outbox_event" (id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, created_at)
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, d.payload, d.headers, d.occurred_at,
    d.ordered, d.created_at
FROM "outbox_delayed" AS d WHERE d.due_at <= ?1 ORDER BY d.due_at, d.id LIMIT ?2
