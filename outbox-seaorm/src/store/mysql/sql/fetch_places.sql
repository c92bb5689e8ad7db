-- Shard, scan, limit, once a shard, which is the portable form of LATERAL. The hint as above.
SELECT e.seq FROM "outbox_event" AS e FORCE INDEX ("outbox_event_shard_idx")
WHERE e.shard = ? AND e.seq > ? ORDER BY e.seq LIMIT ?
