-- ?1 and ?2 due time and id of the last to move. The order of this SELECT is that of the positions.
INSERT INTO "outbox_event" (id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, created_at)
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, d.payload, d.headers, d.occurred_at,
    d.ordered, d.created_at
FROM "outbox_delayed" AS d INDEXED BY "outbox_delayed_due_idx"
WHERE d.due_at <= ?1 AND (d.due_at < ?1 OR d.id <= ?2)
ORDER BY d.due_at, d.id
