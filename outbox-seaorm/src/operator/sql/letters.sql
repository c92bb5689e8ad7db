-- $1 and $2 the look's bounds; $3 topic, $4 aggregate, $5 key, $6 part of the error, $7 age in
-- microseconds, each NULL for any; $8 whether skipped; $9 limit.
SELECT d.seq, d.id, d.aggregatetype, d.aggregateid, d.topic, d.ordered, d.attempts, d.reason,
    d.last_error, d.blocks_aggregate, {time d.created_at created_at}, {time d.dead_at dead_at}
FROM "outbox_dead" AS d
WHERE d.seq > $1 AND d.seq <= $2
    AND ({text $3} IS NULL OR {is d.topic $3})
    AND ({text $4} IS NULL OR {is d.aggregatetype $4})
    AND ({text $5} IS NULL OR {is d.aggregateid $5})
    AND ({text $6} IS NULL OR {contains d.last_error $6})
    AND ({number $7} IS NULL OR d.dead_at <= {ago $7})
    AND (d.reason = 'skipped') = $8
ORDER BY d.seq LIMIT {limit $9}
