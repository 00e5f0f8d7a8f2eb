-- The roles of these names and all their members, however indirect, each with whether it can log in. Nobody is a member
-- for being a superuser, nor for the right alone to let others in (since Postgres 16, of those who make a role).
SELECT coalesce(json_object_agg(r.rolname, r.rolcanlogin)::text, '{}')
FROM pg_roles AS r
WHERE r.oid IN (
  WITH RECURSIVE meant (oid) AS (
    SELECT oid FROM pg_roles WHERE rolname IN (SELECT json_array_elements_text(CAST({{names}} AS json)))
    UNION
    SELECT m.member FROM meant JOIN pg_auth_members AS m ON m.roleid = meant.oid
    WHERE coalesce((to_json(m) ->> 'inherit_option')::boolean OR (to_json(m) ->> 'set_option')::boolean, true)
  )
  SELECT oid FROM meant
)
