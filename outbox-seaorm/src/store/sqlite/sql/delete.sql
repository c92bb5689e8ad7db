-- ?1 JSON: [seq, …], ?2 and ?3 the first and last seq.
DELETE FROM "outbox_event" AS e WHERE {listed}
