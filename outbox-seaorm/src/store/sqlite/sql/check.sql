-- Prepares every column that this version uses. Without quotes: SQLite would take a quoted name
-- that is no column for a text.
SELECT 1 WHERE
NOT EXISTS (SELECT seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, attempts, crashes, retry_at, last_error, created_at FROM "outbox_event" WHERE FALSE)
AND NOT EXISTS (SELECT id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, due_at, created_at FROM "outbox_delayed" WHERE FALSE)
AND NOT EXISTS (SELECT seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, attempts, last_error, created_at, reason, blocks_aggregate, dead_at
    FROM "outbox_dead" WHERE FALSE)
AND NOT EXISTS (SELECT seq, id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, attempts, created_at, delivered_at FROM "outbox_delivered" WHERE FALSE)
AND NOT EXISTS (SELECT id, lease_until, place, handles FROM "outbox_dispatcher" WHERE FALSE)
AND EXISTS (SELECT shard, owner, epoch, revision, suspect_to FROM "outbox_shard" WHERE shard = 0)
