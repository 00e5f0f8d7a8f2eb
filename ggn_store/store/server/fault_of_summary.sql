-- Whether the summary of a piece is the one that `store/rulesets/summaries.py` derives. Nobody has told the planner yet
-- how many rows a piece has that is only just stored, hence the settings.
CREATE OR REPLACE FUNCTION ggn_fault_of_summary(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp SET plan_cache_mode = force_generic_plan SET jit = off AS $ggn$
DECLARE
  stored bigint[];
BEGIN
  SELECT ARRAY[{{counts}}] INTO stored FROM piece_summary WHERE piece_id = $1;
  IF NOT EXISTS (SELECT FROM piece WHERE id = $1) THEN
    RETURN CASE WHEN stored IS NOT NULL THEN 'its piece is not there' END;
  END IF;
  IF stored IS DISTINCT FROM ARRAY[
      (SELECT count(*) FROM source WHERE piece_id = $1),
      (SELECT count(*) FROM destination WHERE piece_id = $1),
      (SELECT count(*) FROM variant WHERE piece_id = $1),
      (SELECT count(*) FROM source JOIN variant USING (piece_id)
        WHERE piece_id = $1 AND variant.source = source.ordinal AND square IS NULL),
      (SELECT count(*) FROM condition WHERE piece_id = $1),
      (SELECT count(*) FROM effect WHERE piece_id = $1),
      (SELECT count(*) FROM hand_effect WHERE piece_id = $1),
      (SELECT count(*) FROM variant WHERE piece_id = $1 AND NOT toggle)
    ] THEN
    RETURN 'its summary is not the one of its rows';
  END IF;
  RETURN NULL;
END
$ggn$
