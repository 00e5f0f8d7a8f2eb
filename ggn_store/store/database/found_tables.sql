-- The columns and constraints of our tables, as a Postgres database has them.
SELECT 'column', a.attname, c.relname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
  a.attcollation = (SELECT oid FROM pg_collation WHERE collname = 'C' AND collnamespace = 'pg_catalog'::regnamespace)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relname = ANY(:tables) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'constraint', k.conname, c.relname, pg_get_constraintdef(k.oid), NULL, NULL
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = :schema AND c.relname = ANY(:tables) AND c.relkind = 'r' AND k.contype IN ('c', 'f', 'p', 'u', 'x')
ORDER BY 1, 3, 2
