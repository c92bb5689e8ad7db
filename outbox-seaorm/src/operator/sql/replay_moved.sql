-- $1 replay, $2 how far in the history it has come, $3 events, $4 zero: its record is kept from now on.
UPDATE "outbox_operation" SET seq = $2, events = $3, done_at = {ahead $4} WHERE id = $1
