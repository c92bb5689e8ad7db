-- What stands at the places, found by one SELECT: to prepare one with all these columns for each shard
-- takes longer than to read it.
SELECT e.seq, e.shard, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), e.retry_at),
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers),
    CASE WHEN OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) <= {inline} THEN e.payload END,
    CASE WHEN OCTET_LENGTH(e.payload) + OCTET_LENGTH(e.headers) <= {inline} THEN e.headers END,
    e.occurred_at, 2
FROM ({places}) AS p
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = p.seq
