-- Where the tables are that a connection finds first, whose they are, and whether `db roles init` has been there.
SELECT current_database(), n.nspname, o.rolname, o.rolsuper,
  EXISTS (SELECT FROM pg_class u WHERE u.relnamespace = n.oid AND u.relname = :unchecked)
  OR EXISTS (SELECT FROM aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee WHERE r.rolname = ANY(:roles))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles o ON o.oid = c.relowner
WHERE c.oid = 'revision'::regclass
