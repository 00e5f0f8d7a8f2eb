-- Who but the owner has which right on the store's objects, on the database and on the schema.
WITH acl (kind, name, col, owner, entry) AS (
  SELECT 'database', d.datname::text, '', d.datdba, e
  FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) e WHERE d.datname = current_database()
  UNION ALL
  SELECT 'schema', n.nspname::text, '', n.nspowner, e
  FROM pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) e WHERE n.nspname = :schema
  UNION ALL
  SELECT CASE c.relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relname::text, '', c.relowner, e
  FROM pg_class c, aclexplode(c.relacl) e WHERE c.relnamespace = to_regnamespace(:quoted) AND c.relname = ANY(:names)
  UNION ALL
  SELECT 'table', c.relname::text, a.attname::text, c.relowner, e
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) e
  WHERE c.relnamespace = to_regnamespace(:quoted) AND c.relname = ANY(:names)
  UNION ALL
  SELECT 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', '', p.proowner, e
  FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
  WHERE p.pronamespace = to_regnamespace(:quoted) AND p.proname ^@ 'ggn_'
)
SELECT kind, name, col, (entry).privilege_type || CASE WHEN (entry).is_grantable THEN ' WITH GRANT OPTION' ELSE '' END,
  coalesce(r.rolname::text, 'PUBLIC')
FROM acl LEFT JOIN pg_roles r ON r.oid = (entry).grantee
WHERE (entry).grantee <> owner AND coalesce(r.rolname, '') <> :owner
ORDER BY 1, 2, 3, 4, 5
