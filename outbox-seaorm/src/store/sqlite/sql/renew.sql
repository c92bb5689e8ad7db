-- ?1 id, ?2 lease in seconds.
UPDATE "outbox_dispatcher"
SET lease_until = strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ?2 || ' seconds'),
    renewed_at = strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')
WHERE id = ?1
