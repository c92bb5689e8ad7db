-- ?1 JSON: [seq, …]. By way of a conflict, as a retry.
INSERT INTO "outbox_event" (seq, id, aggregatetype, topic, payload)
SELECT j.value, zeroblob(16), '', '', '' FROM json_each(?1) AS j
WHERE j.value = (SELECT e.seq FROM "outbox_event" AS e WHERE e.seq = j.value)
ON CONFLICT (seq) DO UPDATE SET crashes = crashes + 1
