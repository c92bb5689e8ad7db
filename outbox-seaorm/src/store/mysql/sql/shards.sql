SELECT s.shard, s.epoch, s.owner, d.id IS NOT NULL AS held
FROM "outbox_shard" AS s LEFT JOIN "outbox_dispatcher" AS d ON d.id = s.owner
ORDER BY s.shard
