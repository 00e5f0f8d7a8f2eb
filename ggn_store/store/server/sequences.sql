-- The sequences that number the rows of tables which members write.

SELECT s.relname
FROM pg_class s
JOIN pg_depend d ON d.objid = s.oid AND d.deptype IN ('a', 'i')
JOIN pg_class c ON c.oid = d.refobjid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE s.relkind = 'S' AND n.nspname = :schema AND c.relname = ANY(:tables) AND c.relname <> 'audit'
ORDER BY s.relname
