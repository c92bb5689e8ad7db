-- JSON: [seq, …], sorted: everybody locks events by position, and before the shard's row.
SELECT e.seq, e.id
FROM JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
FOR UPDATE
