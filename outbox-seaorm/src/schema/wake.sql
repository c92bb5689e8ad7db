-- Wakes dispatchers that sleep. To notify makes commits wait for each other, so it is done only while
-- somebody says that it sleeps. The function runs as its owner, for those who may only emit: every
-- name in it is fixed, and compared as it is, for how names are quoted is a setting. In a schema that
-- was renamed it does nothing, rather than fail. A session keeps the plan of its first emit, when the
-- table was small: it must be by the index.
DO E'
DECLARE
    home CONSTANT TEXT := (
        SELECT n.nspname FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = E''"outbox_event"''::REGCLASS
    );
    channel CONSTANT TEXT := (
        SELECT ''outbox:'' || md5(format(''%s.%s'', home, relname))
        FROM pg_catalog.pg_class WHERE oid = E''"outbox_event"''::REGCLASS
    );
    body CONSTANT TEXT := (
        SELECT format($body$
BEGIN
    IF TG_TABLE_SCHEMA = %1$L THEN
        IF EXISTS (SELECT FROM %1$I.%2$I WHERE sleeps) THEN
            PERFORM pg_catalog.pg_notify(%3$L, %4$L);
        END IF;
    END IF;
    RETURN NULL;
END
$body$, home, relname, channel, '''')
        FROM pg_catalog.pg_class WHERE oid = E''"outbox_dispatcher"''::REGCLASS
    );
    emitted TEXT;
BEGIN
    EXECUTE format(
        ''CREATE OR REPLACE FUNCTION %s() RETURNS TRIGGER LANGUAGE plpgsql
        SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS %L'',
        E''"outbox_wake"'', body
    );
    FOREACH emitted IN ARRAY ARRAY[E''"outbox_event"'', E''"outbox_delayed"''] LOOP
        IF NOT EXISTS (
            SELECT FROM pg_catalog.pg_trigger
            WHERE tgrelid = emitted::REGCLASS AND tgname = ''wake_dispatchers''
        ) THEN
            EXECUTE format(
                ''CREATE TRIGGER wake_dispatchers AFTER INSERT ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()'',
                emitted, E''"outbox_wake"''
            );
        END IF;
    END LOOP;
END';
