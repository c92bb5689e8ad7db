-- $1 member, $2 shard, $3 its epoch, $4 position, $5 id. The event has been locked since the
-- transaction began: by this one, and not by one that the handler ended. The shard is locked now,
-- until the commit, so that nobody takes it in between.
WITH fence AS MATERIALIZED (
    SELECT s.shard FROM "outbox_shard" AS s
    WHERE s.shard = $2 AND s.epoch = $3 AND s.owner = $1
    FOR SHARE
), removed AS (
    DELETE FROM "outbox_event" AS e USING fence
    WHERE e.seq = $4 AND e.id = $5 AND e.xmax = pg_current_xact_id()::xid
    RETURNING e.*
){kept}
SELECT (SELECT count(*) FROM fence) AS fences, (SELECT count(*) FROM removed) AS events
