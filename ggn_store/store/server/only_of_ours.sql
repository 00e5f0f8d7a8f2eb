-- Part of a function that seals: rows are only added to what the same transaction makes.
IF {{unless}}EXISTS (
    SELECT FROM unnest(touched) AS each (id)
    WHERE NOT EXISTS (SELECT FROM {{parent}} AS made WHERE made.id = each.id AND ggn_is_ours(made.xmin))
  ) THEN
    RAISE EXCEPTION 'ggn_store: rows are only added to a {{parent}} that the same transaction makes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
