-- ?1 id, ?2 lease in seconds, ?3 place, ?4 handles. Joining again after an error is joining.
INSERT INTO "outbox_dispatcher" (id, lease_until, place, handles)
VALUES (?1, strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now', ?2 || ' seconds'), ?3, ?4)
ON CONFLICT (id) DO UPDATE
SET lease_until = excluded.lease_until, renewed_at = excluded.renewed_at
