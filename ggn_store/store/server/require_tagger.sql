-- Where no policy names who tags, those do who may set policies; a migration's trigger looks into the policy.
CREATE OR REPLACE FUNCTION ggn_require_tagger() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
BEGIN
  IF NOT has_table_privilege(current_user, 'policy', 'INSERT')
      AND ggn_people((SELECT name FROM ruleset WHERE id = NEW.ruleset_id), 'taggers') IS NULL THEN
    RAISE EXCEPTION 'permission denied for table %', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
$ggn$
