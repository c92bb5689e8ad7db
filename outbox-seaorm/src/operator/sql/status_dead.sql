-- $1 id. An order would be that of the primary key, and a reason to read along it.
SELECT d.id, d.seq, d.aggregatetype, d.aggregateid, d.topic, 'dead' AS status, d.attempts,
    d.last_error, {time d.created_at created_at}
FROM "outbox_dead" AS d WHERE d.id = $1
