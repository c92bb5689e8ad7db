-- ?1 JSON: [[seq, id in hex], …]
DELETE FROM "outbox_event" WHERE seq IN (
    SELECT e.seq
    FROM json_each(?1) AS j CROSS JOIN "outbox_event" AS e ON e.seq = json_extract(j.value, '$[0]')
    WHERE json_extract(j.value, '$[1]') = {id}
)
