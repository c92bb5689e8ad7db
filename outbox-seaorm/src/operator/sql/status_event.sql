-- $1 id. There is no index for it, which each emit would pay for.
-- What is no equality keeps PostgreSQL from reading all letters first, here and elsewhere.
SELECT e.id, e.seq, e.aggregatetype, e.aggregateid, e.topic, CASE WHEN e.ordered AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS b
        WHERE b.blocks_aggregate AND b.aggregatetype = e.aggregatetype
            AND b.aggregateid = e.aggregateid AND b.seq <> e.seq
    ) THEN 'blocked' WHEN e.attempts > 0 THEN 'retrying' ELSE 'pending' END AS status,
    e.attempts, {time e.retry_at next_attempt_at}, e.last_error, {time e.created_at created_at}
FROM "outbox_event" AS e WHERE e.id = $1
