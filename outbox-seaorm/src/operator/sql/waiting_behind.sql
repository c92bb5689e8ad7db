-- $1 shard, $2 position, $3 aggregate, $4 key; $5 how many events to look at.
SELECT COUNT(*) AS passed, COUNT(b.waits) AS waiting
FROM (
    SELECT CASE WHEN e.ordered AND e.aggregatetype = $3 AND e.aggregateid = $4 THEN 1 END AS waits
    FROM "outbox_event" AS e {force outbox_event_shard_idx}
    WHERE {in_shard e $1} AND e.seq > $2
    ORDER BY {by_shard e} LIMIT {limit $5}
) AS b
