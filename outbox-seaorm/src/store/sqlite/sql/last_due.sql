-- ?1 now, ?2 limit - 1. Where this portion ends; nothing when it holds all that is due.
SELECT d.due_at, d.id FROM "outbox_delayed" AS d INDEXED BY "outbox_delayed_due_idx"
WHERE d.due_at <= ?1 ORDER BY d.due_at, d.id LIMIT 1 OFFSET ?2
