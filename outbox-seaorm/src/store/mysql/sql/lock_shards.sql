-- JSON: [[shard, epoch], …], sorted. A session that was stopped while it held one shard's row must
-- not stop the others from being taken. No member is read here: under SKIP LOCKED one that is just
-- renewing its lease would look as if it were gone.
SELECT s.shard, s.epoch, s.owner
FROM JSON_TABLE(?, '$[*]' COLUMNS (shard SMALLINT PATH '$[0]', epoch BIGINT PATH '$[1]')) AS j
STRAIGHT_JOIN "outbox_shard" AS s FORCE INDEX (PRIMARY) ON s.shard = j.shard AND s.epoch = j.epoch
FOR UPDATE SKIP LOCKED
