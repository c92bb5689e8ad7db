-- ?1 member, ?2 shard, ?3 epoch, ?4 floor, ?5 scan, ?6 limit, ?7 inline bytes. The first row (part 0) is
-- the shard, if it is the member's; then the positions of (floor, scan] (1); then what is beyond (2).
-- Two bounds even there, and neither a join nor an EXISTS with the shard: statistics from a small
-- outbox would make SQLite read and sort the whole backlog for one page of it.
SELECT s.revision AS seq, s.shard AS shard,
    (SELECT CASE WHEN min(d.due_at) <= strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now') THEN 0.0
        ELSE (julianday(min(d.due_at)) - julianday('now')) * 86400.0 END
        FROM "outbox_delayed" AS d) AS retry_in,
    NULL AS id, NULL AS aggregatetype, NULL AS aggregateid, NULL AS topic, NULL AS ordered,
    NULL AS attempts, NULL AS crashes, NULL AS size, NULL AS payload, NULL AS headers,
    NULL AS occurred_at, 0 AS part
FROM "outbox_shard" AS s
WHERE s.shard = ?2 AND s.owner = ?1 AND s.epoch = ?3
UNION ALL
SELECT * FROM (
    SELECT e.seq, ?2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1
    FROM "outbox_event" AS e
    WHERE e.seq > ?4 AND e.seq <= ?5 AND ?1 = (SELECT s.owner FROM "outbox_shard" AS s
        WHERE s.shard = ?2 AND s.epoch = ?3)
    ORDER BY e.seq LIMIT -1
)
UNION ALL
SELECT * FROM (
    SELECT e.seq, ?2, (julianday(e.retry_at) - julianday('now')) * 86400.0,
        e.id, e.aggregatetype, e.aggregateid, e.topic, e.ordered, e.attempts, e.crashes,
        length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)),
        CASE WHEN length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) <= ?7
            THEN e.payload END,
        CASE WHEN length(CAST(e.payload AS BLOB)) + length(CAST(e.headers AS BLOB)) <= ?7
            THEN e.headers END,
        e.occurred_at, 2
    FROM "outbox_event" AS e
    WHERE e.seq > ?5 AND e.seq <= 9223372036854775807 AND ?1 = (SELECT s.owner FROM "outbox_shard" AS s
        WHERE s.shard = ?2 AND s.epoch = ?3)
    ORDER BY e.seq LIMIT ?6
)
