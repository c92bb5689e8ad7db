-- ?1 JSON: [seq, …], ?2 and ?3 the first and last seq.
SELECT e.seq, (julianday(e.retry_at) - julianday('now')) * 86400.0 AS retry_in,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) AS size,
    e.payload, e.headers, e.occurred_at
FROM "outbox_event" AS e
WHERE e.seq IN (SELECT value FROM json_each(?1)) AND e.seq BETWEEN ?2 AND ?3
