-- $1 position.
SELECT d.seq, d.id, d.aggregatetype, d.aggregateid, d.topic, d.ordered, d.attempts, d.reason,
    d.last_error, d.blocks_aggregate, {time d.created_at created_at}, {time d.dead_at dead_at},
    {json d.payload} AS payload, {json d.headers} AS headers
FROM "outbox_dead" AS d
WHERE d.seq = $1
