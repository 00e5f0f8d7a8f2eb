-- The triggers on our tables. One whose function is not of the tables' schema has it written with its own.
SELECT c.relname, g.tgname, pg_get_triggerdef(g.oid, true), g.tgenabled IN ('O', 'A'),
  CASE WHEN p.pronamespace = c.relnamespace THEN p.proname ELSE p.pronamespace::regnamespace || '.' || p.proname END
FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_proc p ON p.oid = g.tgfoid
WHERE n.nspname = :schema AND c.relname = ANY(:tables) AND NOT g.tgisinternal
ORDER BY 1, 2
