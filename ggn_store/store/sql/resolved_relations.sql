-- The relations of a query, with those that views and inheritance bring in, and what planning evaluates of each.
WITH RECURSIVE relation(oid) AS (
  SELECT unnest($1::oid[])
  UNION SELECT more.oid FROM relation CROSS JOIN LATERAL (
    SELECT d.refobjid FROM pg_rewrite AS r JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass
      AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass WHERE r.ev_class = relation.oid
    UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = relation.oid) AS more(oid))
SELECT c.oid, n.nspname, c.relname, c.relkind IN ('r', 'v') AND c.relam IN (0, 2),
  ARRAY(SELECT a.atttypid FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  ARRAY(SELECT ev_action::text FROM pg_rewrite WHERE ev_class = c.oid
    UNION ALL SELECT unnest(ARRAY[indexprs::text, indpred::text]) FROM pg_index WHERE indrelid = c.oid
    UNION ALL SELECT stxexprs::text FROM pg_statistic_ext WHERE stxrelid = c.oid
    UNION ALL SELECT polqual::text FROM pg_policy WHERE polrelid = c.oid
    UNION ALL SELECT d.adbin::text FROM pg_attrdef AS d JOIN pg_attribute AS a ON a.attrelid = d.adrelid
      AND a.attnum = d.adnum WHERE d.adrelid = c.oid AND a.attgenerated = 'v')
FROM relation JOIN pg_class AS c ON c.oid = relation.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
