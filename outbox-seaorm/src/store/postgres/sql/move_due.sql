-- $1 member, $2 shard, $3 epoch, $4 limit. The condition stands again in the DELETE: what was
-- rescheduled in between stays. Positions are given out in the order of the last SELECT.
WITH due AS MATERIALIZED (
    SELECT d.id FROM "outbox_delayed" AS d
    WHERE d.shard = $2 AND d.due_at <= statement_timestamp()
    ORDER BY d.due_at, d.id LIMIT (SELECT $4::bigint)
    FOR UPDATE
), fence AS MATERIALIZED (
    SELECT s.shard FROM "outbox_shard" AS s
    WHERE s.shard = $2 AND s.owner = $1 AND s.epoch = $3 AND (SELECT count(*) FROM due) >= 0
    FOR SHARE
), moved AS (
    DELETE FROM "outbox_delayed" AS d USING due, fence
    WHERE d.id = due.id AND d.due_at <= statement_timestamp()
    RETURNING d.*
), placed AS (
    INSERT INTO "outbox_event" (id, aggregatetype, aggregateid, topic, payload, headers,
        occurred_at, ordered, created_at)
    SELECT id, aggregatetype, aggregateid, topic, payload, headers, occurred_at, ordered, created_at
    FROM moved ORDER BY due_at, id
    RETURNING seq
)
SELECT EXISTS (SELECT 1 FROM fence) AS fenced, (SELECT count(*) FROM placed) AS moved
