-- $1 position.
SELECT d.id, d.topic, d.ordered, d.blocks_aggregate, {shard d} AS shard
FROM "outbox_dead" AS d WHERE d.seq = $1 {lock}
