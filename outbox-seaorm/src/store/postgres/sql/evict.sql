-- $1 id, $2 the end of the lease as it was seen.
DELETE FROM "outbox_dispatcher"
WHERE id = $1 AND (EXTRACT(EPOCH FROM lease_until) * 1000000)::bigint::text = $2
