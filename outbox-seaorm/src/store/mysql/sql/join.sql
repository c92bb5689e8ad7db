-- id, lease in microseconds, place, handles, lease again. Joining again after an error is joining.
INSERT INTO "outbox_dispatcher" (id, lease_until, place, handles)
VALUES (?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, ?, ?)
ON DUPLICATE KEY UPDATE lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND,
    renewed_at = UTC_TIMESTAMP(6)
