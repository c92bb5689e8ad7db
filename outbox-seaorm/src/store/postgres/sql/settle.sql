-- $1 member, $2 shards, $3 their epochs; $4 and $5 positions and ids of the delivered; $6 to $9
-- positions, ids, microseconds and errors of the retries; $10 to $15 positions, ids, reasons,
-- errors, whether they block, and attempts more of the dead letters; $16 attempts of the retries.
-- First the events are locked, by position, then the shards. The locks are what makes this safe
-- against a new owner: this statement's snapshot may be older than the take-over, but a row that
-- is locked is compared again as it is now, and then nobody takes the shard before the commit.
WITH named AS MATERIALIZED (
    SELECT * FROM unnest($4::bigint[] || $6::bigint[] || $10::bigint[],
        $5::uuid[] || $7::uuid[] || $11::uuid[]) AS outcome (seq, id)
), locked AS MATERIALIZED (
    SELECT e.* FROM "outbox_event" AS e
    JOIN named ON e.seq = named.seq AND e.id = named.id
    WHERE e.seq = ANY ((SELECT $4::bigint[] || $6::bigint[] || $10::bigint[])::bigint[])
    ORDER BY e.seq
    FOR UPDATE OF e
), fence AS MATERIALIZED (
    SELECT s.shard
    FROM unnest($2::smallint[], $3::bigint[]) AS given (shard, epoch)
    JOIN "outbox_shard" AS s ON s.shard = given.shard AND s.epoch = given.epoch
    WHERE s.owner = $1 AND (SELECT count(*) FROM locked) >= 0
    ORDER BY s.shard
    FOR SHARE OF s
), removed AS (
    DELETE FROM "outbox_event" AS e
    USING unnest($4::bigint[], $5::uuid[]) AS done (seq, id), locked
    WHERE e.seq = locked.seq AND locked.seq = done.seq AND locked.id = done.id
        AND locked.shard = ANY (ARRAY(SELECT shard FROM fence))
    RETURNING {row}
){kept}, retried AS (
    UPDATE "outbox_event" AS e SET
        attempts = retry.attempts,
        crashes = 0,
        retry_at = clock_timestamp() + retry.after * INTERVAL '1 microsecond',
        last_error = retry.error
    FROM unnest($6::bigint[], $7::uuid[], $8::bigint[], $9::text[], $16::integer[])
        AS retry (seq, id, after, error, attempts), locked, fence
    WHERE e.seq = locked.seq AND locked.seq = retry.seq AND locked.id = retry.id
        AND fence.shard = locked.shard
    RETURNING e.seq
), buried AS (
    INSERT INTO "outbox_dead" (seq, id, aggregatetype, aggregateid, topic, payload, headers,
        occurred_at, ordered, attempts, last_error, created_at, reason, blocks_aggregate)
    SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload, e.headers,
        e.occurred_at, e.ordered, least(e.attempts, 2147483646) + letter.more, letter.error,
        e.created_at, letter.reason, letter.blocks
    FROM unnest($10::bigint[], $11::uuid[], $12::text[], $13::text[], $14::boolean[], $15::integer[])
        AS letter (seq, id, reason, error, blocks, more)
    JOIN locked AS e ON e.seq = letter.seq AND e.id = letter.id
    JOIN fence ON fence.shard = e.shard
    ON CONFLICT (seq) DO NOTHING
    RETURNING seq
), taken_out AS (
    DELETE FROM "outbox_event" AS e USING buried
    WHERE e.seq = buried.seq
)
SELECT TRUE AS is_shard, shard::bigint AS seq FROM fence
UNION ALL SELECT FALSE, seq FROM retried
UNION ALL SELECT FALSE, seq FROM buried
