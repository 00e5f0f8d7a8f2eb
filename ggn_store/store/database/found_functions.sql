-- Our functions, as a Postgres database has them.
SELECT p.proname || '(' || oidvectortypes(p.proargtypes) || ')' AS name, format_type(p.prorettype, NULL),
  l.lanname, p.provolatile::text, p.proisstrict, p.prosecdef, coalesce(p.proconfig, '{}'), p.prosrc,
  pg_get_userbyid(p.proowner)
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = :schema AND p.proname || '(' || oidvectortypes(p.proargtypes) || ')' = ANY(:functions)
