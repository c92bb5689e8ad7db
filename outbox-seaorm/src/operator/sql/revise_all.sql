UPDATE "outbox_shard" SET revision = revision + 1
