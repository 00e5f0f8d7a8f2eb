-- Whether a proposal is as this program writes it. A migration's triggers check the rest of a row when it is inserted,
-- whoever does.
CREATE OR REPLACE FUNCTION ggn_fault_of_proposal(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  it proposal;
  envelope text;
  written text;
  listed text;
  declared text;
  is_sound boolean;
BEGIN
  SELECT * INTO it FROM proposal WHERE id = $1;
  IF it.pieces <> (SELECT count(*) FROM proposal_piece WHERE proposal_id = $1) THEN
    RETURN 'it does not list as many pieces as it says';
  END IF;
{{content}}
  RETURN NULL;
END
$ggn$
