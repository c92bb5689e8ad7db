-- As the planner reckons: rows a page when it was last looked, times the pages of now.
SELECT CASE WHEN c.reltuples > 0 AND c.relpages > 0
    THEN (c.reltuples / c.relpages * (pg_relation_size(c.oid)
        / current_setting('block_size')::bigint))::bigint
    ELSE 0 END AS number
FROM pg_catalog.pg_class AS c WHERE c.oid = '"{table}"'::regclass
