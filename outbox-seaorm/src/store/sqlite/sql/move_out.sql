-- ?1 and ?2 due time and id of the last to move: the same rows.
DELETE FROM "outbox_delayed" AS d INDEXED BY "outbox_delayed_due_idx"
WHERE d.due_at <= ?1 AND (d.due_at < ?1 OR d.id <= ?2)
