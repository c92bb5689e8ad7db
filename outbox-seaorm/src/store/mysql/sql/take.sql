-- JSON: [[shard, suspect_to], …]; member. The rows are locked.
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (shard SMALLINT PATH '$[0]', suspect_to BIGINT PATH '$[1]')) AS j
STRAIGHT_JOIN "outbox_shard" AS s FORCE INDEX (PRIMARY) ON s.shard = j.shard
SET s.owner = ?, s.epoch = s.epoch + 1, s.suspect_to = j.suspect_to
