-- $1 and $2 the look's bounds; $3 topic, $4 aggregate, $5 key, each NULL for any; $6 attempts,
-- $7 limit.
SELECT e.id, e.seq, e.aggregatetype, e.aggregateid, e.topic, CASE WHEN e.ordered AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS b
        WHERE b.blocks_aggregate AND b.aggregatetype = e.aggregatetype
            AND {is b.aggregateid e.aggregateid} AND b.seq <> e.seq
    ) THEN 'blocked' WHEN e.attempts > 0 THEN 'retrying' ELSE 'pending' END AS status,
    e.attempts, {time e.retry_at next_attempt_at}, e.last_error, {time e.created_at created_at}
FROM "outbox_event" AS e
WHERE e.seq > $1 AND e.seq <= $2 AND e.attempts > $6
    AND ({text $3} IS NULL OR {is e.topic $3})
    AND ({text $4} IS NULL OR {is e.aggregatetype $4})
    AND ({text $5} IS NULL OR {is e.aggregateid $5})
ORDER BY e.seq LIMIT {limit $7}
