-- Inline bytes, twice; JSON: [seq, …].
SELECT e.seq, e.shard, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), e.retry_at) AS retry_in,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) AS size,
    CASE WHEN OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) <= ? THEN e.payload END AS payload,
    CASE WHEN OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) <= ? THEN e.headers END AS headers,
    e.occurred_at
FROM JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
