-- JSON: [seq, …], of locked rows.
DELETE e
FROM JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
