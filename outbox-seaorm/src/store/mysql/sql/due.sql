-- shard, limit. Locked, so that none of them is rescheduled before it has moved.
SELECT id FROM "outbox_delayed" FORCE INDEX ("outbox_delayed_due_idx")
WHERE shard = ? AND due_at <= UTC_TIMESTAMP(6)
ORDER BY due_at, id LIMIT ?
FOR UPDATE
