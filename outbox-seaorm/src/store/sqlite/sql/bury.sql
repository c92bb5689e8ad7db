-- ?1 JSON: [[seq, id in hex, reason, error, blocks, attempts more], …]
INSERT OR IGNORE INTO "outbox_dead" (seq, id, aggregatetype, aggregateid, topic, payload,
    headers, occurred_at, ordered, attempts, last_error, created_at, reason, blocks_aggregate)
SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload,
    e.headers, e.occurred_at, e.ordered, e.attempts + json_extract(j.value, '$[5]'),
    json_extract(j.value, '$[3]'), e.created_at, json_extract(j.value, '$[2]'),
    json_extract(j.value, '$[4]')
FROM json_each(?1) AS j CROSS JOIN "outbox_event" AS e ON e.seq = json_extract(j.value, '$[0]')
WHERE json_extract(j.value, '$[1]') = {id}
