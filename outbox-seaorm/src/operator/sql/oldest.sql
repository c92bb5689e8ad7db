SELECT e.id, e.seq, e.aggregatetype, e.aggregateid, e.topic, CASE WHEN e.ordered AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS b
        WHERE b.blocks_aggregate AND b.aggregatetype = e.aggregatetype
            AND {is b.aggregateid e.aggregateid} AND b.seq <> e.seq
    ) THEN 'blocked' WHEN e.attempts > 0 THEN 'retrying' ELSE 'pending' END AS status,
    e.attempts, {time e.retry_at next_attempt_at}, e.last_error, {time e.created_at created_at},
    {micros_since e.created_at} AS waits
FROM "outbox_event" AS e ORDER BY e.seq LIMIT 1
