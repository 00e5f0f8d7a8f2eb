-- Whether a piece has facts of this program's version, which can be those of a piece of so many possibilities. How a
-- piece moves is not derived here: `ggn-store db check` does that.
CREATE OR REPLACE FUNCTION ggn_fault_of_facts(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp SET plan_cache_mode = force_generic_plan SET jit = off AS $ggn$
DECLARE
  it piece_facts;
  possibilities bigint;
BEGIN
  SELECT * INTO it FROM piece_facts WHERE piece_id = $1;
  IF NOT EXISTS (SELECT FROM piece WHERE id = $1) THEN
    RETURN CASE WHEN it.piece_id IS NOT NULL THEN 'its piece is not there' END;
  END IF;
  SELECT count(*) INTO possibilities FROM variant WHERE piece_id = $1;
  IF it.version IS DISTINCT FROM {{version}} OR EXISTS (
      SELECT FROM unnest(ARRAY[it.displacing, it.elsewhere, it.by_another, it.either]) AS of (number)
      WHERE number NOT BETWEEN 0 AND possibilities)
    OR EXISTS (SELECT FROM unnest(ARRAY[it.moves, it.rules]) AS of (form) WHERE form !~ '^[0-9a-f]{10}$') THEN
    RETURN 'its facts are not those of its rows';
  END IF;
  RETURN NULL;
END
$ggn$
