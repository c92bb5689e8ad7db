-- $1 and $2 bounds; $3 topic, $4 aggregate, $5 key, $6 since, $7 until, each NULL for any; $8 the
-- replay. The order of this SELECT is that of the positions.
INSERT INTO "outbox_event" (id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered)
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, d.payload, {with_replay_id d.headers $8},
    d.occurred_at, d.ordered
FROM "outbox_delivered" AS d
WHERE d.seq > $1 AND d.seq <= $2
    AND ({text $3} IS NULL OR {is d.topic $3})
    AND ({text $4} IS NULL OR {is d.aggregatetype $4})
    AND ({text $5} IS NULL OR {is d.aggregateid $5})
    AND ({instant $6} IS NULL OR d.delivered_at >= $6)
    AND ({instant $7} IS NULL OR d.delivered_at < $7)
ORDER BY d.seq
