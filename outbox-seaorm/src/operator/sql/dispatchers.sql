SELECT d.id, d.place, d.handles, {time d.joined_at joined_at}
FROM "outbox_dispatcher" AS d ORDER BY d.id
