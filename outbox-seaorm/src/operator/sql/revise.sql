-- $1 shard.
UPDATE "outbox_shard" SET revision = revision + 1 WHERE shard = $1
