-- JSON: [[seq, microseconds, error], …], of locked rows.
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
    seq BIGINT PATH '$[0]',
    after BIGINT PATH '$[1]',
    error TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PATH '$[2]'
)) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
SET e.attempts = e.attempts + 1, e.crashes = 0, e.last_error = j.error,
    e.retry_at = UTC_TIMESTAMP(6) + INTERVAL j.after MICROSECOND
