-- The roles as the server has them: what they may do with it, who is in them, and what they are in.

SELECT rolname, rolcanlogin, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
  ARRAY(SELECT DISTINCT m.rolname::text FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member
        WHERE a.roleid = r.oid ORDER BY 1) AS members,
  ARRAY(SELECT DISTINCT g.rolname::text FROM pg_auth_members a JOIN pg_roles g ON g.oid = a.roleid
        WHERE a.member = r.oid ORDER BY 1) AS groups
FROM pg_roles r
WHERE rolname = ANY(:names)
