-- ?1 JSON: [seq, …], ?2 and ?3 the first and last seq. An event that is in the history already is not
-- written again.
INSERT OR IGNORE INTO "outbox_delivered" (seq, id, aggregatetype, aggregateid, topic, payload,
    headers, occurred_at, ordered, attempts, created_at)
SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload,
    e.headers, e.occurred_at, e.ordered, e.attempts, e.created_at
FROM "outbox_event" AS e
WHERE {listed}
