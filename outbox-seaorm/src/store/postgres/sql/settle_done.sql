-- $1 member, $2 shards, $3 their epochs, $4 and $5 positions and ids. Success needs no fence, so
-- that the owner is only looked at. Ids as well as positions: after a restore a position may be
-- another event's. The list of positions beside the join keeps the search by key: as it is computed,
-- its length is not known when planning, and taken to be small.
WITH removed AS (
    DELETE FROM "outbox_event" AS e
    USING unnest($4::bigint[], $5::uuid[]) AS done (seq, id)
    WHERE e.seq = ANY ((SELECT $4::bigint[])::bigint[]) AND e.seq = done.seq AND e.id = done.id
    RETURNING e.*
){kept}
SELECT TRUE AS is_shard, s.shard::bigint AS seq
FROM unnest($2::smallint[], $3::bigint[]) AS given (shard, epoch)
JOIN "outbox_shard" AS s ON s.shard = given.shard AND s.epoch = given.epoch AND s.owner = $1
