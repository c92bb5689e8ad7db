-- ?1 JSON: [seq, …].
SELECT e.seq, (julianday(e.retry_at) - julianday('now')) * 86400.0 AS retry_in,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) AS size,
    e.payload, e.headers, e.occurred_at
FROM json_each(?1) AS j CROSS JOIN "outbox_event" AS e ON e.seq = j.value
