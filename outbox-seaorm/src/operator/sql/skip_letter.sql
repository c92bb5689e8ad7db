-- $1 position.
UPDATE "outbox_dead" SET blocks_aggregate = FALSE WHERE seq = $1
