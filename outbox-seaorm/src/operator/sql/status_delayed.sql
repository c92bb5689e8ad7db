-- $1 id.
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, 'scheduled' AS status,
    {time d.due_at next_attempt_at}, {time d.created_at created_at}
FROM "outbox_delayed" AS d WHERE d.id = $1
