-- $1 id, $2 microseconds from now.
UPDATE "outbox_delayed" SET due_at = {ahead $2} WHERE id = $1
