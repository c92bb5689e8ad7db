-- $1 position, $2 id, $3 for how many milliseconds the transaction may stand idle, unless the session
-- has set that itself. Whoever waited here would wait for a handler of a former owner.
SELECT e.seq, set_config(
    'idle_in_transaction_session_timeout',
    COALESCE(NULLIF(current_setting('idle_in_transaction_session_timeout'), '0'), $3),
    true
)
FROM "outbox_event" AS e
WHERE e.seq = $1 AND e.id = $2
FOR UPDATE SKIP LOCKED
