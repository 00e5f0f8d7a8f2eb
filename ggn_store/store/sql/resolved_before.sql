-- The store's own relations, by their names; and what a query may not even name.
-- To read '{1}' as an array of a domain is to run the domain's checks, and that is done while a query is parsed. So
-- this is whatever has such a type somewhere. Types of extensions read texts in C, and run nothing else.
WITH RECURSIVE part(of, whole) AS (
  SELECT typelem, oid FROM pg_type WHERE typelem >= 16384
  UNION ALL SELECT typbasetype, oid FROM pg_type WHERE typbasetype >= 16384
  UNION ALL SELECT rngsubtype, unnest(ARRAY[rngtypid, rngmultitypid]) FROM pg_range WHERE rngsubtype >= 16384
  UNION ALL SELECT a.atttypid, c.reltype FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
    WHERE a.atttypid >= 16384 AND c.reltype <> 0),
risky(type) AS (
  SELECT contypid FROM pg_constraint WHERE contypid >= 16384 AND contype = 'c'
  UNION SELECT t.oid FROM pg_type AS t WHERE t.oid >= 16384 AND t.typtype = 'b' AND t.typinput >= 16384
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_type'::regclass AND objid = t.oid AND deptype = 'e')
  UNION SELECT part.whole FROM risky JOIN part ON part.of = risky.type)
SELECT 'own', '', name, true, to_regclass(quote_ident(name))::oid FROM unnest($1::text[]) AS name
UNION ALL SELECT 'type', n.nspname, t.typname, pg_type_is_visible(t.oid), t.oid
  FROM risky JOIN pg_type AS t ON t.oid = risky.type JOIN pg_namespace AS n ON n.oid = t.typnamespace
UNION ALL SELECT 'function', n.nspname, p.proname, pg_function_is_visible(p.oid), p.oid
  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
  WHERE p.oid >= 16384 AND EXISTS (SELECT FROM risky
    WHERE type = ANY (p.prorettype || p.proargtypes::oid[] || coalesce(p.proallargtypes, '{}')))
UNION ALL SELECT 'operator', n.nspname, o.oprname, pg_operator_is_visible(o.oid), o.oid
  FROM pg_operator AS o JOIN pg_namespace AS n ON n.oid = o.oprnamespace
  WHERE EXISTS (SELECT FROM risky WHERE type IN (o.oprleft, o.oprright, o.oprresult))
