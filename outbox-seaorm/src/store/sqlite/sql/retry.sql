-- ?1 JSON: [[seq, id in hex, seconds, error], …]
UPDATE "outbox_event" AS e SET
    attempts = e.attempts + 1,
    crashes = 0,
    retry_at = strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', json_extract(j.value, '$[2]') || ' seconds'),
    last_error = json_extract(j.value, '$[3]')
FROM json_each(?1) AS j
WHERE e.seq = json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]') = {id}
RETURNING seq
