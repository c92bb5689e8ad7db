-- $1 id, $2 lease in microseconds.
UPDATE "outbox_dispatcher"
SET lease_until = clock_timestamp() + $2::bigint * INTERVAL '1 microsecond'
WHERE id = $1
