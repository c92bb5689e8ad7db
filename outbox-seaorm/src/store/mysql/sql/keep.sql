-- JSON: [seq, …], of locked rows: a SELECT that locks nothing could write what another session is
-- making a dead letter. What is in the history already is not written again; IGNORE would hide
-- more than that.
INSERT INTO "outbox_delivered" (seq, id, aggregatetype, aggregateid, topic, payload, headers,
    occurred_at, ordered, attempts, created_at)
SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload, e.headers,
    e.occurred_at, e.ordered, e.attempts, e.created_at
FROM JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
ON DUPLICATE KEY UPDATE "outbox_delivered".seq = "outbox_delivered".seq
