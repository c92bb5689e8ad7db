-- ?1 member, ?2 shard, ?3 epoch, ?4 JSON: [seq, …], ?5 and ?6 the first and last seq. No row if the shard
-- is another's; else what stands at these positions, as one text: a row for each would cost more
-- than to find it. Read inside a transaction that holds the write lock, it stays true until the
-- commit.
SELECT (SELECT group_concat(e.seq || {id}) FROM "outbox_event" AS e NOT INDEXED
    WHERE e.seq IN (SELECT value FROM json_each(?4)) AND e.seq BETWEEN ?5 AND ?6) AS there
FROM "outbox_shard" WHERE shard = ?2 AND owner = ?1 AND epoch = ?3
