-- ?1 JSON: [[seq, id in hex], …]. An event that is in the history already is not written again.
INSERT OR IGNORE INTO "outbox_delivered" (seq, id, aggregatetype, aggregateid, topic, payload,
    headers, occurred_at, ordered, attempts, created_at)
SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload,
    e.headers, e.occurred_at, e.ordered, e.attempts, e.created_at
FROM json_each(?1) AS j CROSS JOIN "outbox_event" AS e ON e.seq = json_extract(j.value, '$[0]')
WHERE json_extract(j.value, '$[1]') = {id}
