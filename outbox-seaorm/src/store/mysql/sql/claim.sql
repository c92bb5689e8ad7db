-- Position, id. Whoever waited here would wait for a handler of a former owner.
SELECT e.seq FROM "outbox_event" AS e FORCE INDEX (PRIMARY)
WHERE e.seq = ? AND e.id = ?
FOR UPDATE SKIP LOCKED
