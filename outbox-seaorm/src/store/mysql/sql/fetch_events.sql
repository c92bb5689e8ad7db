-- Shard, scan, limit, once a shard, which is the portable form of LATERAL. The hint as above.
SELECT e.seq, e.shard, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), e.retry_at),
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers),
    CASE WHEN OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) <= {inline} THEN e.payload END,
    CASE WHEN OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) <= {inline} THEN e.headers END,
    e.occurred_at, 2
FROM "outbox_event" AS e FORCE INDEX ("outbox_event_shard_idx")
WHERE e.shard = ? AND e.seq > ?
ORDER BY e.seq LIMIT ?
