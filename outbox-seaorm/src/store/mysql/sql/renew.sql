-- lease in microseconds, id. The driver asks for matched rows, not changed ones.
UPDATE "outbox_dispatcher"
SET lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, renewed_at = UTC_TIMESTAMP(6)
WHERE id = ?
