UPDATE "outbox_shard" SET owner = NULL WHERE owner = ?
