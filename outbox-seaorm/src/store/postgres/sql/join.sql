-- $1 id, $2 lease in microseconds, $3 place, $4 handles. Joining again after an error is joining.
INSERT INTO "outbox_dispatcher" (id, lease_until, place, handles)
VALUES ($1, clock_timestamp() + $2::bigint * INTERVAL '1 microsecond', $3, $4)
ON CONFLICT (id) DO UPDATE
SET lease_until = excluded.lease_until, renewed_at = excluded.renewed_at
