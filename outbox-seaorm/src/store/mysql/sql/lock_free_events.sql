-- JSON: [seq, …], sorted. What a handler's transaction holds is left alone: it may hold it for long.
SELECT e.seq, e.id
FROM JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
FOR UPDATE SKIP LOCKED
