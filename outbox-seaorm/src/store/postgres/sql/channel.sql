-- The channel that the trigger notifies; no row where there is no trigger.
SELECT 'outbox:' || md5(format('%s.%s', n.nspname, c.relname)) AS channel
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = c.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = E'"outbox_event"'::regclass AND t.tgname = 'wake_dispatchers' AND t.tgenabled IN ('O', 'A')
