-- $1 position.
SELECT e.id, e.topic, {shard e} AS shard FROM "outbox_event" AS e WHERE e.seq = $1 {lock}
