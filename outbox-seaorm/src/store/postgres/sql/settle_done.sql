-- $1 member, $2 shards, $3 their epochs, $4 and $5 positions and ids. Where nothing has failed the
-- events need no lock of their own before they are deleted: the fence is locked after them, as by
-- everybody, and if a shard is another's then, all of it is undone by an error. That costs a tenth of
-- what locking each event would. Nor does the history look first whether it has the event, which
-- would cost a third more: that is an error too. Ids as well as positions: after a restore a
-- position may be another event's. The list of positions beside the join keeps the search by key:
-- as it is computed, its length is not known when planning, and taken to be small.
WITH removed AS (
    DELETE FROM "outbox_event" AS e
    USING unnest($4::bigint[], $5::uuid[]) AS done (seq, id)
    WHERE e.seq = ANY ((SELECT $4::bigint[])::bigint[]) AND e.seq = done.seq AND e.id = done.id
    RETURNING {row}
){kept}, fence AS MATERIALIZED (
    SELECT s.shard
    FROM unnest($2::smallint[], $3::bigint[]) AS given (shard, epoch)
    JOIN "outbox_shard" AS s ON s.shard = given.shard AND s.epoch = given.epoch
    WHERE s.owner = $1 AND (SELECT count(*) FROM removed) >= 0
    ORDER BY s.shard
    FOR SHARE OF s
)
SELECT CASE WHEN count(*) = cardinality($2::smallint[]) THEN TRUE
    ELSE ('outbox: a shard is another dispatcher''s now, who has ' || count(*))::boolean END AS written
FROM fence
