-- $1 member, $2 shards, $3 their epochs.
WITH mine AS MATERIALIZED (
    SELECT s.shard
    FROM unnest($2::smallint[], $3::bigint[]) AS given (shard, epoch)
    JOIN "outbox_shard" AS s ON s.shard = given.shard AND s.epoch = given.epoch
    WHERE s.owner = $1
    ORDER BY s.shard
    FOR UPDATE OF s
)
UPDATE "outbox_shard" AS s SET owner = NULL FROM mine WHERE s.shard = mine.shard AND s.owner = $1
