-- $1 member, $2 shards, $3 their epochs, $4 and $5 positions, sorted, and ids. Where nothing has failed the
-- events need no lock of their own before they are deleted: the fence is locked after them, as by
-- everybody, and if a shard is another's then, all of it is undone by an error. That costs a tenth of
-- what locking each event would. Nor does the history look first whether it has the event, which
-- would cost a third more: that is an error too. Ids as well as positions: after a restore a
-- position may be another event's. They are compared when the events are gone, all at once, which
-- costs a fifth less than a join; where they differ it is an error as well. The list of positions is
-- computed, so that its length is not known when planning, and taken to be small: that keeps the
-- search by key.
WITH removed AS (
    DELETE FROM "outbox_event" AS e
    WHERE e.seq = ANY ((SELECT $4::bigint[])::bigint[])
    RETURNING {row}
){kept}, fence AS MATERIALIZED (
    SELECT s.shard
    FROM unnest($2::smallint[], $3::bigint[]) AS given (shard, epoch)
    JOIN "outbox_shard" AS s ON s.shard = given.shard AND s.epoch = given.epoch
    WHERE s.owner = $1 AND (SELECT count(*) FROM removed) >= 0
    ORDER BY s.shard
    FOR SHARE OF s
)
SELECT CASE WHEN count(*) = cardinality($2::smallint[])
        AND (SELECT array_agg(r.id ORDER BY r.seq) FROM removed AS r) = $5::uuid[]
    THEN TRUE
    ELSE ('outbox: a shard or an event is gone; of the shards there are ' || count(*))::boolean END AS written
FROM fence
