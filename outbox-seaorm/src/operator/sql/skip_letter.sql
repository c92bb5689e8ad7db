-- $1 position.
UPDATE "outbox_dead" SET blocks_aggregate = FALSE, reason = 'skipped' WHERE seq = $1
