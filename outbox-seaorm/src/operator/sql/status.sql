-- $1 id. One statement, in one snapshot: an event that moves meanwhile is seen once.
SELECT e.id, e.seq, e.aggregatetype, e.aggregateid, e.topic, CASE WHEN e.ordered AND EXISTS (
        SELECT 1 FROM "outbox_dead" AS b
        WHERE b.blocks_aggregate AND b.aggregatetype = e.aggregatetype
            AND {is b.aggregateid e.aggregateid} AND b.seq <> e.seq
    ) THEN 'blocked' WHEN e.attempts > 0 THEN 'retrying' ELSE 'pending' END AS status,
    e.attempts, {time e.retry_at next_attempt_at}, e.last_error, {time e.created_at created_at},
    {instant NULL} AS sent_at
FROM "outbox_event" AS e WHERE e.id = $1
UNION ALL
SELECT d.id, NULL, d.aggregatetype, d.aggregateid, d.topic, 'scheduled',
    0, {time d.due_at next_attempt_at}, NULL, {time d.created_at created_at}, NULL
FROM "outbox_delayed" AS d WHERE d.id = $1
UNION ALL
SELECT d.id, d.seq, d.aggregatetype, d.aggregateid, d.topic, 'dead',
    d.attempts, NULL, d.last_error, {time d.created_at created_at}, NULL
FROM "outbox_dead" AS d WHERE d.id = $1
UNION ALL
SELECT d.id, d.seq, d.aggregatetype, d.aggregateid, d.topic, 'delivered',
    d.attempts + 1, NULL, NULL, {time d.created_at created_at}, {time d.delivered_at sent_at}
FROM "outbox_delivered" AS d WHERE d.id = $1
