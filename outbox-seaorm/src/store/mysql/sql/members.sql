-- A lease that begins in the future is none: the clock was turned back, and whoever lives renews by
-- the new time.
SELECT id, CAST(lease_until AS CHAR(26)) AS lease_until,
    lease_until > UTC_TIMESTAMP(6) AND renewed_at < UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE AS alive
FROM "outbox_dispatcher"
