-- $4 how many events to look at, in a shard and behind a position.
SELECT * FROM (
    SELECT {shard e} AS shard, e.seq, e.aggregatetype, e.aggregateid, e.ordered
    FROM "outbox_event" AS e {force outbox_event_shard_idx}
    WHERE {in_shard e {shard}} AND e.seq > {after}
    ORDER BY {by_shard e} LIMIT {limit $4}
) AS b
