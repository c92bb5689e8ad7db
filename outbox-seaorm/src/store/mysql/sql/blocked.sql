-- JSON: [shard, …].
SELECT d.shard, d.seq, d.aggregatetype, d.aggregateid
FROM JSON_TABLE(?, '$[*]' COLUMNS (shard SMALLINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_dead" AS d FORCE INDEX ("outbox_dead_blocks_idx")
    ON d.shard = j.shard AND d.blocks_aggregate = TRUE
