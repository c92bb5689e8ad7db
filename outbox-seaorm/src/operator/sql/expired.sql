-- $1 age in microseconds, $2 limit.
SELECT d.seq, d.id, d.aggregatetype, d.aggregateid, d.topic, {json d.payload} AS payload,
    {json d.headers} AS headers, {time d.occurred_at occurred_at}, d.ordered, d.attempts,
    {time d.created_at created_at}, {time d.delivered_at delivered_at}
FROM "outbox_delivered" AS d {force outbox_delivered_at_idx}
WHERE d.delivered_at <= {ago $1}
ORDER BY d.delivered_at LIMIT {limit $2}
