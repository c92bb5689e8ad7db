-- $1 id.
SELECT d.id, d.seq, d.aggregatetype, d.aggregateid, d.topic, 'delivered' AS status,
    d.attempts + 1 AS attempts, {time d.created_at created_at}, {time d.delivered_at sent_at}
FROM "outbox_delivered" AS d WHERE d.id = $1
