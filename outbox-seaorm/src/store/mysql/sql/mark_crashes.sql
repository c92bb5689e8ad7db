-- JSON: [[seq, crashes], …], of locked rows.
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (seq BIGINT PATH '$[0]', crashes SMALLINT PATH '$[1]')) AS j
STRAIGHT_JOIN "outbox_event" AS e FORCE INDEX (PRIMARY) ON e.seq = j.seq
SET e.crashes = j.crashes
