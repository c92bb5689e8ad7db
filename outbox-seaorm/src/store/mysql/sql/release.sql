-- JSON: [[shard, epoch], …]; member.
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (shard SMALLINT PATH '$[0]', epoch BIGINT PATH '$[1]')) AS j
STRAIGHT_JOIN "outbox_shard" AS s FORCE INDEX (PRIMARY) ON s.shard = j.shard AND s.epoch = j.epoch
SET s.owner = NULL
WHERE s.owner = ?
