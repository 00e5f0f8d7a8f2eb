-- Notes what a statement has touched, to be checked before the commit; the owner of the tables is not held up.
CREATE OR REPLACE FUNCTION {{function}}() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  touched bigint[];
BEGIN
  IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN NULL;
  END IF;
  touched := ARRAY(SELECT DISTINCT {{key}} FROM touched_rows);
  {{only_of_ours}}INSERT INTO ggn_unchecked (kind, id)
  SELECT noted.kind, each.id
  FROM unnest(touched) AS each (id) CROSS JOIN unnest(ARRAY{{kinds}}) WITH ORDINALITY AS noted (kind, place)
  WHERE NOT EXISTS (SELECT FROM ggn_unchecked AS known WHERE known.kind = noted.kind AND known.id = each.id)
  ORDER BY each.id, noted.place;
  RETURN NULL;
END
$ggn$
