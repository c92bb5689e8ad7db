-- Shards, floors, scans: the positions between, which the index alone has. The hint as the statistics
-- of a small outbox would send MySQL over the whole primary key.
SELECT e.seq, e.shard, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1
FROM "outbox_event" AS e FORCE INDEX ("outbox_event_shard_idx")
WHERE {ranges}
