-- JSON: [[shard, epoch], …]; member. A comment with `M!` is code to MariaDB alone, one with `!8` to
-- MySQL alone. Whoever finds another server, or the same started anew, may find other events at the
-- positions it knows.
SELECT s.revision AS seq, s.shard,
    TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), (
        SELECT d.due_at FROM "outbox_delayed" AS d WHERE d.shard = s.shard
        ORDER BY d.due_at LIMIT 1
    )) AS retry_in,
    NULL AS id, NULL AS aggregatetype, NULL AS aggregateid, NULL AS topic, NULL AS ordered,
    NULL AS attempts, NULL AS crashes, NULL AS size,
    CONCAT_WS('/', @@hostname, @@port, @@server_id, /*!80000 @@server_uuid, */ (
        SELECT UNIX_TIMESTAMP() - VARIABLE_VALUE
        FROM /*M!100600 information_schema.GLOBAL_STATUS */
            /*!80000 performance_schema.global_status */
        WHERE VARIABLE_NAME = 'Uptime'
    )) AS payload,
    NULL AS headers, NULL AS occurred_at, 0 AS part
FROM JSON_TABLE(?, '$[*]' COLUMNS (shard SMALLINT PATH '$[0]', epoch BIGINT PATH '$[1]')) AS j
STRAIGHT_JOIN "outbox_shard" AS s FORCE INDEX (PRIMARY) ON s.shard = j.shard AND s.epoch = j.epoch
WHERE s.owner = ?
