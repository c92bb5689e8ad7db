-- $1 member, $2 shard, $3 its epoch, $4 position, $5 id. The event has been locked since the
-- transaction began: by this one, and not by one that the handler ended. The shard is locked now,
-- until the commit, so that nobody takes it in between. What is deleted within a savepoint has another
-- transaction's id: a nested transaction may be open then, and the commit would not be one.
WITH fence AS MATERIALIZED (
    SELECT s.shard FROM "outbox_shard" AS s
    WHERE s.shard = $2 AND s.epoch = $3 AND s.owner = $1
    FOR SHARE
), removed AS (
    DELETE FROM "outbox_event" AS e USING fence
    WHERE e.seq = $4 AND e.id = $5 AND e.xmax = pg_current_xact_id()::xid
    RETURNING {row}, e.xmax = pg_current_xact_id()::xid AS outermost
){kept}
SELECT (SELECT count(*) FROM fence) AS fences, (SELECT count(*) FROM removed) AS events,
    (SELECT bool_and(outermost) FROM removed) AS outermost
