-- $1 member, $2 shards, $3 their epochs, $4 floors, $5 scans and $6 limits, $7 inline bytes. A row for
-- each shard that is the member's, with the positions of (floor, scan]; then what is beyond scan.
-- `age` counts from the next transaction id: it is read after the snapshot was taken, for an
-- expression is not evaluated before, and nothing here takes an id.
-- Two things keep to the index on (shard, seq), in its order, whatever the statistics say; those of
-- an outbox that was nearly empty are the usual ones. A list of one shard is no equality, so that
-- the primary key, which leads through all other shards, does not have the order that is asked for.
-- And a limit that is computed is not known when planning: reading in order is then what pays, not
-- sorting a backlog. The first limit is none.
WITH mine AS MATERIALIZED (
    SELECT c.shard, c.floor, c.scan, c.most, s.revision
    FROM unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
        AS c (shard, epoch, floor, scan, most)
    JOIN "outbox_shard" AS s ON s.shard = c.shard AND s.epoch = c.epoch AND s.owner = $1
)
SELECT m.revision AS seq, m.shard,
    EXTRACT(EPOCH FROM (
        SELECT min(d.due_at) FROM "outbox_delayed" AS d WHERE d.shard = m.shard
    ) - clock_timestamp())::double precision AS retry_in,
    NULL::uuid AS id, NULL AS aggregatetype, NULL AS aggregateid, NULL AS topic,
    NULL::boolean AS ordered, NULL::integer AS attempts, NULL::integer AS crashes,
    NULL::bigint AS size, NULL AS payload, NULL AS headers, NULL::timestamp AS occurred_at,
    TRUE AS is_shard,
    (EXTRACT(EPOCH FROM pg_postmaster_start_time()) * 1000000)::bigint AS started,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS latest,
    age('3'::xid) AS age,
    CASE WHEN m.floor < m.scan THEN ARRAY(
        SELECT e.seq FROM "outbox_event" AS e
        WHERE e.shard = ANY (ARRAY[m.shard]) AND e.seq > m.floor AND e.seq <= m.scan
        ORDER BY e.shard, e.seq LIMIT (SELECT 9223372036854775807)
    ) END AS again
FROM mine AS m
UNION ALL
SELECT e.seq, e.shard,
    CASE WHEN isfinite(e.retry_at)
        THEN EXTRACT(EPOCH FROM e.retry_at - clock_timestamp())::double precision END,
    e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
    octet_length(body.payload) + octet_length(body.headers),
    CASE WHEN octet_length(body.payload) + octet_length(body.headers) <= $7::bigint
        THEN body.payload END,
    CASE WHEN octet_length(body.payload) + octet_length(body.headers) <= $7::bigint
        THEN body.headers END,
    {occurred_at}, FALSE, NULL, NULL, NULL, NULL, NULL
FROM mine AS m
CROSS JOIN LATERAL (
    SELECT e.* FROM "outbox_event" AS e
    WHERE e.shard = ANY (ARRAY[m.shard]) AND e.seq > m.scan
    ORDER BY e.shard, e.seq LIMIT m.most
) AS e
CROSS JOIN LATERAL (
    SELECT e.payload::text AS payload, e.headers::text AS headers OFFSET 0
) AS body
