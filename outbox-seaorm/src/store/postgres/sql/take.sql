-- $1 member, $2 shards, $3 their epochs and $4 owners as seen, the nil id for none.
-- Compare and set: the snapshot of this statement may be older than a member that has joined and
-- taken the shard since, so that the look for the owner's row alone would steal it. The comparison
-- is made again on the newest row, because the row is locked. One that is locked by somebody else
-- is left for the next time: who stopped while holding one shard must not stop all take-overs.
WITH free AS MATERIALIZED (
    SELECT s.shard
    FROM unnest($2::smallint[], $3::bigint[], $4::uuid[]) AS seen (shard, epoch, owner)
    JOIN "outbox_shard" AS s ON s.shard = seen.shard AND s.epoch = seen.epoch
        AND coalesce(s.owner, '00000000-0000-0000-0000-000000000000') = seen.owner
    WHERE NOT EXISTS (SELECT 1 FROM "outbox_dispatcher" AS d WHERE d.id = seen.owner)
        AND EXISTS (SELECT 1 FROM "outbox_dispatcher" AS d WHERE d.id = $1)
    ORDER BY s.shard
    FOR UPDATE OF s SKIP LOCKED
)
UPDATE "outbox_shard" AS s SET
    owner = $1,
    epoch = s.epoch + 1,
    suspect_to = CASE WHEN s.owner IS NULL THEN 0 ELSE coalesce((
        SELECT e.seq FROM "outbox_event" AS e WHERE e.shard = ANY (ARRAY[s.shard])
        ORDER BY e.shard DESC, e.seq DESC LIMIT 1
    ), 0) END
FROM free, unnest($2::smallint[], $3::bigint[]) AS seen (shard, epoch)
WHERE s.shard = free.shard AND seen.shard = s.shard AND s.epoch = seen.epoch
RETURNING s.shard, s.epoch, s.suspect_to
