-- The end of a lease in a form that depends on no setting of the session.
SELECT id, (EXTRACT(EPOCH FROM lease_until) * 1000000)::bigint::text AS lease_until,
    lease_until > clock_timestamp() AS alive
FROM "outbox_dispatcher"
