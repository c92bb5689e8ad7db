-- ?1 JSON: [[seq, id in hex, …], …]. Only what is among the dead letters now: should another
-- letter have the same position, the event stays.
DELETE FROM "outbox_event" WHERE seq IN (
    SELECT e.seq
    FROM json_each(?1) AS j CROSS JOIN "outbox_event" AS e ON e.seq = json_extract(j.value, '$[0]')
        CROSS JOIN "outbox_dead" AS d ON d.seq = e.seq AND d.id = e.id
    WHERE json_extract(j.value, '$[1]') = {id}
)
RETURNING seq
