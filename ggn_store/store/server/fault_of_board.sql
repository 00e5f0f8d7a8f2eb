-- Whether the rows of a board are those of its digest: JSON as Python writes it with separators=(",", ":") and
-- ensure_ascii=False; to_json escapes the same characters.
CREATE OR REPLACE FUNCTION ggn_fault_of_board(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  it board;
  labels text;
  squares bigint;
BEGIN
  SELECT * INTO it FROM board WHERE id = $1;
  IF NOT FOUND THEN
    RETURN NULL;  -- removed since, and with it its squares, which refer to it
  END IF;
  SELECT string_agg(',' || to_json(label)::text, '' ORDER BY number), count(*)
  INTO labels, squares FROM square WHERE board_id = $1;
  IF EXISTS (SELECT FROM square WHERE board_id = $1 AND (number < 0 OR number >= squares OR label = '*')) THEN
    RETURN 'its squares are not numbered without gaps';
  END IF;
  IF it.digest IS DISTINCT FROM encode(sha256(convert_to(
      '[' || coalesce(to_json(it.shape)::text, 'null') || coalesce(labels, '') || ']', 'UTF8')), 'hex') THEN
    RETURN 'its squares and shape do not give its digest';
  END IF;
  RETURN NULL;
END
$ggn$
