-- $1 position, $2 id. Whoever waited here would wait for a handler of a former owner.
SELECT e.seq FROM "outbox_event" AS e
WHERE e.seq = $1 AND e.id = $2
FOR UPDATE SKIP LOCKED
