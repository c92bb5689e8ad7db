-- ?1 JSON: [[seq, seconds, error, attempts], …]. Nothing is inserted: each of the rows is there,
-- and a conflict finds it by key whatever the statistics say, which an UPDATE … FROM does not.
INSERT INTO "outbox_event" (seq, id, aggregatetype, topic, payload, retry_at, last_error,
    attempts)
SELECT json_extract(j.value, '$[0]'), zeroblob(16), '', '', '',
    strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', json_extract(j.value, '$[1]') || ' seconds'),
    json_extract(j.value, '$[2]'), json_extract(j.value, '$[3]')
FROM json_each(?1) AS j
WHERE TRUE
ON CONFLICT (seq) DO UPDATE SET
    attempts = excluded.attempts,
    crashes = 0,
    retry_at = excluded.retry_at,
    last_error = excluded.last_error
