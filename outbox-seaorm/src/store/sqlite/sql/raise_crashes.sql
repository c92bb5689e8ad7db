-- ?1 JSON: [seq, …]
UPDATE "outbox_event" SET crashes = crashes + 1
WHERE seq IN (SELECT j.value FROM json_each(?1) AS j)
