-- $1 and $2 the bounds of the page, $3 its limit; $4 how many events each look passes. Numbers are
-- compared first: MariaDB compares each event with each letter.
SELECT l.shard, h.seq, COUNT(*) AS events
FROM (
    {looks}
) AS l
LEFT JOIN (
    SELECT d.seq, {shard d} AS shard, d.aggregatetype, d.aggregateid FROM "outbox_dead" AS d
    WHERE d.seq > $1 AND d.seq <= $2 AND d.blocks_aggregate
    ORDER BY d.seq LIMIT {limit $3}
) AS h ON l.ordered AND h.shard = l.shard AND h.seq < l.seq
    AND h.aggregatetype = l.aggregatetype AND {is h.aggregateid l.aggregateid}
GROUP BY l.shard, h.seq
