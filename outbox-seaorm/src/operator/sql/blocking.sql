-- $1 and $2 the look's bounds, $3 limit.
SELECT d.seq, d.id, d.aggregatetype, d.aggregateid, d.topic, d.ordered, d.attempts, d.reason,
    d.last_error, d.blocks_aggregate, {time d.created_at created_at}, {time d.dead_at dead_at},
    {shard d} AS shard
FROM "outbox_dead" AS d
WHERE d.seq > $1 AND d.seq <= $2 AND d.blocks_aggregate
ORDER BY d.seq LIMIT {limit $3}
