-- A lease that begins in the future is none: the clock was turned back, and whoever lives renews by
-- the new time.
SELECT id, lease_until,
    lease_until > strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now')
        AND renewed_at < strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', '1 minute') AS alive
FROM "outbox_dispatcher"
