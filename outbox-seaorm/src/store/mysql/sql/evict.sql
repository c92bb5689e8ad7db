-- id, the end of the lease as it was seen.
DELETE FROM "outbox_dispatcher" WHERE id = ? AND lease_until = CAST(? AS DATETIME(6))
