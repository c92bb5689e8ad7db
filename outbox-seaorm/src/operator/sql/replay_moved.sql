-- $1 replay, $2 how far in the history it has come, $3 events.
UPDATE "outbox_operation" SET seq = $2, events = $3 WHERE id = $1
