-- Whether a ruleset is as this program writes it: it begins with a revision, or with the proposal of one.
CREATE OR REPLACE FUNCTION ggn_fault_of_ruleset(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
BEGIN
  IF EXISTS (SELECT FROM ruleset WHERE id = $1)
      AND NOT EXISTS (SELECT FROM revision WHERE ruleset_id = $1)
      AND NOT EXISTS (SELECT FROM proposal WHERE ruleset_id = $1) THEN
    RETURN 'it has no revision';
  END IF;
  IF EXISTS (SELECT FROM ruleset WHERE id = $1 AND (length(name) > 200
      OR name !~ '^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$')) THEN
    RETURN 'its name is not one of a ruleset';
  END IF;
  RETURN NULL;
END
$ggn$
