-- A type is told by the one that it is an array of, or the relation that it is a row of. Where somebody has said how a
-- type is compared, comparing it runs what they said, and no tree shows it.
SELECT 'function', p.oid, n.nspname, p.proname, p.prolang IN (12, 14), EXISTS (SELECT FROM pg_cast
    WHERE castfunc = p.oid AND oid < 16384), 0::oid
  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE p.oid = ANY ($1::oid[])
UNION ALL SELECT 'operator', o.oid, n.nspname, o.oprname, p.oid < 16384 AND p.provolatile <> 'v', false, 0
  FROM pg_operator AS o JOIN pg_namespace AS n ON n.oid = o.oprnamespace JOIN pg_proc AS p ON p.oid = o.oprcode
  WHERE o.oid = ANY ($2::oid[])
UNION ALL SELECT 'type', t.oid, n.nspname, coalesce(e.typname, t.typname), NOT EXISTS (SELECT FROM pg_opclass
    WHERE opcintype IN (t.oid, e.oid) AND opcdefault AND oid >= 16384),
    coalesce(e.oid, t.oid) < 16384, coalesce(e.typrelid, t.typrelid)
  FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
  LEFT JOIN pg_type AS e ON e.oid = t.typelem AND e.typarray = t.oid WHERE t.oid = ANY ($3::oid[])
