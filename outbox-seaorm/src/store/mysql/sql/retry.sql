-- JSON: [[seq, attempts, microseconds, error], …], of locked rows.
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
    seq BIGINT PATH '$[0]',
    attempts INT PATH '$[1]',
    after BIGINT PATH '$[2]',
    error TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[3]'
)) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
SET e.attempts = j.attempts, e.crashes = 0, e.last_error = j.error,
    e.retry_at = UTC_TIMESTAMP(6) + INTERVAL j.after MICROSECOND
