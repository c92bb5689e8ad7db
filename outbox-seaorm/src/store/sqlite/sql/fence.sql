-- ?1 member, ?2 shard, ?3 epoch. Read inside a transaction that holds the write lock, it stays
-- true until the commit. The time is the transaction's: two statements see two `now`s.
SELECT strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now') AS now
FROM "outbox_shard" WHERE shard = ?2 AND owner = ?1 AND epoch = ?3
