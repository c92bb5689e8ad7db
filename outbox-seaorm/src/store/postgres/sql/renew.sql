-- $1 id, $2 lease in microseconds.
UPDATE "outbox_dispatcher"
SET lease_until = clock_timestamp() + $2::bigint * INTERVAL '1 microsecond',
    renewed_at = clock_timestamp()
WHERE id = $1
