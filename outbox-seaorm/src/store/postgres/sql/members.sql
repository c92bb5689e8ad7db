-- The end of a lease in a form that depends on no setting of the session. A lease that begins in the
-- future is none: the clock was turned back, and whoever lives renews by the new time.
SELECT id, (EXTRACT(EPOCH FROM lease_until) * 1000000)::bigint::text AS lease_until,
    lease_until > clock_timestamp() AND renewed_at < clock_timestamp() + INTERVAL '1 minute' AS alive
FROM "outbox_dispatcher"
