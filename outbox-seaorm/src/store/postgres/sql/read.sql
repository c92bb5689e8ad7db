-- $1 positions.
SELECT e.shard, e.seq,
    CASE WHEN isfinite(e.retry_at)
        THEN EXTRACT(EPOCH FROM e.retry_at - clock_timestamp())::double precision END AS retry_in,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    (octet_length(e.payload::text) + octet_length(e.headers::text))::bigint AS size,
    e.payload::text AS payload, e.headers::text AS headers, {occurred_at} AS occurred_at
FROM "outbox_event" AS e
WHERE e.seq = ANY ((SELECT $1::bigint[])::bigint[])
