-- JSON: [[shard, epoch], …], sorted; member. FOR UPDATE: the two servers spell a weaker lock in
-- different ways.
SELECT s.shard
FROM JSON_TABLE(?, '$[*]' COLUMNS (shard SMALLINT PATH '$[0]', epoch BIGINT PATH '$[1]')) AS j
STRAIGHT_JOIN "outbox_shard" AS s FORCE INDEX (PRIMARY) ON s.shard = j.shard AND s.epoch = j.epoch
WHERE s.owner = ?
FOR UPDATE
