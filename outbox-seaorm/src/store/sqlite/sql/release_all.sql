-- ?1 member.
UPDATE "outbox_shard" SET owner = NULL WHERE owner = ?1
