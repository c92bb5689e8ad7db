-- $1 id.
DELETE FROM "outbox_delayed" WHERE id = $1
