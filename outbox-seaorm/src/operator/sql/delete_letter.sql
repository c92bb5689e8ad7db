-- $1 position.
DELETE FROM "outbox_dead" WHERE seq = $1
