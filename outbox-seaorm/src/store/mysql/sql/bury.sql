-- JSON: [[seq, reason, error, blocks, attempts more], …], of locked rows.
INSERT INTO "outbox_dead" (seq, id, aggregatetype, aggregateid, topic, payload, headers,
    occurred_at, ordered, attempts, last_error, created_at, reason, blocks_aggregate)
SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload, e.headers,
    e.occurred_at, e.ordered, e.attempts + j.more, j.error, e.created_at, j.reason, j.blocks
FROM JSON_TABLE(?, '$[*]' COLUMNS (
    seq BIGINT PATH '$[0]',
    reason VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[1]',
    error TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[2]',
    blocks SMALLINT PATH '$[3]',
    more SMALLINT PATH '$[4]'
)) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
ON DUPLICATE KEY UPDATE "outbox_dead".seq = "outbox_dead".seq
