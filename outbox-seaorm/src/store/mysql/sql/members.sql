SELECT id, CAST(lease_until AS CHAR(26)) AS lease_until, lease_until > UTC_TIMESTAMP(6) AS alive
FROM "outbox_dispatcher"
