-- JSON: [seq, …]. Should another letter have the same position, the event stays.
SELECT e.seq
FROM JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
STRAIGHT_JOIN "outbox_dead" AS d FORCE INDEX (PRIMARY) ON d.seq = e.seq AND d.id = e.id
