-- What is never to be there, each with the statement that takes it away: rules, security of rows, tables that are read
-- along, checks of foreign keys that were switched off, settings that switch off all triggers.
WITH ours AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = :schema AND c.relname = ANY(:tables))
SELECT 'rule', r.rulename, c.relname, format('DROP RULE IF EXISTS %I ON %I', r.rulename, c.relname), true
FROM pg_rewrite r JOIN ours c ON c.oid = r.ev_class WHERE r.rulename <> '_RETURN'
UNION ALL
SELECT 'row security', '', c.relname,
  format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', c.relname), true
FROM ours c WHERE c.relrowsecurity OR c.relforcerowsecurity
UNION ALL
SELECT 'heir', i.inhrelid::regclass::text, c.relname,
  format('ALTER TABLE %s NO INHERIT %I', i.inhrelid::regclass, c.relname), true
FROM pg_inherits i JOIN ours c ON c.oid = i.inhparent
UNION ALL
SELECT DISTINCT 'foreign key', k.conname, c.relname,
  format('ALTER TABLE %I DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %I %s',
  c.relname, k.conname, k.conname, pg_get_constraintdef(k.oid)), false
FROM pg_trigger g JOIN pg_constraint k ON k.oid = g.tgconstraint JOIN ours c ON c.oid = k.conrelid
WHERE g.tgisinternal AND g.tgenabled NOT IN ('O', 'A')
UNION ALL
SELECT 'setting', e, coalesce(d.datname, 'all databases') || coalesce(' of ' || r.rolname, ''),
  CASE WHEN r.oid IS NULL THEN format('ALTER DATABASE %I RESET session_replication_role', d.datname)
  ELSE format('ALTER ROLE %I', r.rolname) || coalesce(format(' IN DATABASE %I', d.datname), '')
    || ' RESET session_replication_role' END, true
FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) e LEFT JOIN pg_database d ON d.oid = s.setdatabase
LEFT JOIN pg_roles r ON r.oid = s.setrole
WHERE e ^@ 'session_replication_role=' AND (s.setdatabase = 0 OR d.datname = current_database())
ORDER BY 1, 3, 2
