-- ?1 now, ?2 limit: the same rows.
DELETE FROM "outbox_delayed" WHERE rowid IN (
    SELECT d.rowid FROM "outbox_delayed" AS d
    WHERE d.due_at <= ?1 ORDER BY d.due_at, d.id LIMIT ?2
)
