SELECT id, lease_until,
    lease_until > strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now') AS alive
FROM "outbox_dispatcher"
