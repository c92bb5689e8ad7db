-- ?1 member, ?2 shard, ?3 epoch.
UPDATE "outbox_shard" SET owner = NULL WHERE shard = ?2 AND owner = ?1 AND epoch = ?3
