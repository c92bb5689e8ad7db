-- $1 member. Shards are locked in their order, as everywhere.
WITH mine AS MATERIALIZED (
    SELECT s.shard FROM "outbox_shard" AS s WHERE s.owner = $1 ORDER BY s.shard FOR UPDATE
), released AS (
    UPDATE "outbox_shard" AS s SET owner = NULL FROM mine WHERE s.shard = mine.shard AND s.owner = $1
)
DELETE FROM "outbox_dispatcher" WHERE id = $1
