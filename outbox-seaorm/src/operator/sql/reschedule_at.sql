-- $1 id, $2 when.
UPDATE "outbox_delayed" SET due_at = $2 WHERE id = $1
