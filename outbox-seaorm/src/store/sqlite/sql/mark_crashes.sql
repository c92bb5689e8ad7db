-- ?1 JSON: [[seq, crashes], …]. By way of a conflict, as a retry.
INSERT INTO "outbox_event" (seq, id, aggregatetype, topic, payload, crashes)
SELECT json_extract(j.value, '$[0]'), zeroblob(16), '', '', '', json_extract(j.value, '$[1]')
FROM json_each(?1) AS j
WHERE json_extract(j.value, '$[0]') = (
    SELECT e.seq FROM "outbox_event" AS e WHERE e.seq = json_extract(j.value, '$[0]')
)
ON CONFLICT (seq) DO UPDATE SET crashes = excluded.crashes
