-- $1 position.
DELETE FROM "outbox_event" WHERE seq = $1
