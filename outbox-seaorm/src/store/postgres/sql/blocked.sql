-- $1 shards.
SELECT d.shard, d.seq, d.aggregatetype, d.aggregateid
FROM "outbox_dead" AS d
WHERE d.blocks_aggregate AND d.shard = ANY ($1::smallint[])
