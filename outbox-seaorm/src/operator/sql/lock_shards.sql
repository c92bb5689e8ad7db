SELECT s.shard FROM "outbox_shard" AS s ORDER BY s.shard {lock}
