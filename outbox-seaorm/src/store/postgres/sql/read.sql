-- $1 positions, $2 inline bytes.
SELECT e.seq, e.shard,
    CASE WHEN isfinite(e.retry_at)
        THEN EXTRACT(EPOCH FROM e.retry_at - clock_timestamp())::double precision END AS retry_in,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    (octet_length(body.payload) + octet_length(body.headers))::bigint AS size,
    CASE WHEN octet_length(body.payload) + octet_length(body.headers) <= $2::bigint
        THEN body.payload END AS payload,
    CASE WHEN octet_length(body.payload) + octet_length(body.headers) <= $2::bigint
        THEN body.headers END AS headers,
    {occurred_at} AS occurred_at
FROM "outbox_event" AS e
CROSS JOIN LATERAL (
    SELECT e.payload::text AS payload, e.headers::text AS headers OFFSET 0
) AS body
WHERE e.seq = ANY ((SELECT $1::bigint[])::bigint[])
