-- $1 and $2 the look's bounds; $3 topic, $4 aggregate, $5 key, each NULL for any; $6 limit.
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, {time d.due_at due_at},
    {time d.created_at created_at}
FROM "outbox_delayed" AS d
WHERE d.id > $1 AND d.id <= $2
    AND ({text $3} IS NULL OR {is d.topic $3})
    AND ({text $4} IS NULL OR {is d.aggregatetype $4})
    AND ({text $5} IS NULL OR {is d.aggregateid $5})
ORDER BY d.id LIMIT {limit $6}
