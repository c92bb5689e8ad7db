-- $1 and $2 the bounds of the page, $3 its limit; $4 how many events each look passes.
SELECT l.shard, h.seq, COUNT(*) AS events
FROM (
    {looks}
) AS l
LEFT JOIN (
    SELECT d.seq, d.aggregatetype, d.aggregateid FROM "outbox_dead" AS d
    WHERE d.seq > $1 AND d.seq <= $2 AND d.blocks_aggregate
    ORDER BY d.seq LIMIT {limit $3}
) AS h ON l.ordered AND h.aggregatetype = l.aggregatetype AND h.aggregateid = l.aggregateid
    AND h.seq < l.seq
GROUP BY l.shard, h.seq
