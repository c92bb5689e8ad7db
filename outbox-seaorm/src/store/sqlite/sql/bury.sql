-- ?1 JSON: [[seq, reason, error, blocks, attempts more], …], ?2 and ?3 the first and last seq.
WITH letter AS MATERIALIZED (
    SELECT json_extract(value, '$[0]') AS seq, json_extract(value, '$[1]') AS reason,
        json_extract(value, '$[2]') AS error, json_extract(value, '$[3]') AS blocks,
        json_extract(value, '$[4]') AS more
    FROM json_each(?1)
)
INSERT OR IGNORE INTO "outbox_dead" (seq, id, aggregatetype, aggregateid, topic, payload,
    headers, occurred_at, ordered, attempts, last_error, created_at, reason, blocks_aggregate)
SELECT e.seq, e.id, e.aggregatetype, e.aggregateid, e.topic, e.payload,
    e.headers, e.occurred_at, e.ordered, e.attempts + letter.more,
    letter.error, e.created_at, letter.reason, letter.blocks
FROM "outbox_event" AS e CROSS JOIN letter ON letter.seq = e.seq
WHERE e.seq IN (SELECT seq FROM letter) AND e.seq BETWEEN ?2 AND ?3
