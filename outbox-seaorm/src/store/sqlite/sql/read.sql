-- ?1 JSON: [seq, …], ?2 and ?3 the first and last seq, ?4 inline bytes. The shard is the only one.
SELECT e.seq, 0 AS shard, (julianday(e.retry_at) - julianday('now')) * 86400.0 AS retry_in,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) AS size,
    CASE WHEN length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) <= ?4
        THEN e.payload END AS payload,
    CASE WHEN length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) <= ?4
        THEN e.headers END AS headers,
    e.occurred_at
FROM "outbox_event" AS e
WHERE {listed}
