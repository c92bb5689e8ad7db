-- $1 member, $2 shard, $3 epoch, $4 positions, $5 crashes. Events first, then the fence. What a
-- handler's transaction holds is left alone: it may hold it for long.
WITH locked AS MATERIALIZED (
    SELECT e.seq, e.shard FROM "outbox_event" AS e
    WHERE e.seq = ANY ((SELECT $4::bigint[])::bigint[])
    ORDER BY e.seq
    FOR UPDATE SKIP LOCKED
), fence AS MATERIALIZED (
    SELECT s.shard FROM "outbox_shard" AS s
    WHERE s.shard = $2 AND s.owner = $1 AND s.epoch = $3 AND (SELECT count(*) FROM locked) >= 0
    FOR SHARE
), marked AS (
    UPDATE "outbox_event" AS e SET crashes = mark.crashes
    FROM unnest($4::bigint[], $5::integer[]) AS mark (seq, crashes), locked, fence
    WHERE e.seq = locked.seq AND locked.seq = mark.seq AND locked.shard = fence.shard
)
SELECT shard FROM fence
