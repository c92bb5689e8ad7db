-- $1 and $2 the look's bounds; $3 topic, $4 aggregate, $5 key, $6 since, $7 until, each NULL for
-- any; $8 limit.
SELECT d.seq FROM "outbox_delivered" AS d
WHERE d.seq > $1 AND d.seq <= $2
    AND ({text $3} IS NULL OR {is d.topic $3})
    AND ({text $4} IS NULL OR {is d.aggregatetype $4})
    AND ({text $5} IS NULL OR {is d.aggregateid $5})
    AND ({instant $6} IS NULL OR d.delivered_at >= $6)
    AND ({instant $7} IS NULL OR d.delivered_at < $7)
ORDER BY d.seq LIMIT {limit $8}
