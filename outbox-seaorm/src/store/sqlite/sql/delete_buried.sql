-- ?1 JSON: [seq, …], ?2 and ?3 the first and last seq. Only what is among the dead letters now: should
-- another letter have the same position, the event stays.
DELETE FROM "outbox_event" AS e
WHERE {listed} AND e.id = (SELECT d.id FROM "outbox_dead" AS d WHERE d.seq = e.seq)
RETURNING seq
