-- JSON: [id in hex, …], of locked rows. The order of this SELECT is that of the positions.
INSERT INTO "outbox_event" (id, aggregatetype, aggregateid, topic, payload, headers, occurred_at,
    ordered, created_at)
SELECT d.id, d.aggregatetype, d.aggregateid, d.topic, d.payload, d.headers, d.occurred_at,
    d.ordered, d.created_at
FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET utf8mb4 PATH '$')) AS j
STRAIGHT_JOIN "outbox_delayed" AS d FORCE INDEX (PRIMARY) ON d.id = UNHEX(j.id)
ORDER BY d.due_at, d.id
