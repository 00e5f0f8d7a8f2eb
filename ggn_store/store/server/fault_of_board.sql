-- Whether the rows of a board are those of its digest: JSON as Python writes it with separators=(",", ":") and
-- ensure_ascii=False; to_json escapes the same characters. And whether the coordinates of its squares are those that
-- `Board.coordinates` reads from their labels, from 1: letters count like digits, of which a is 1 and z is 26.
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
  IF EXISTS (
    WITH cell AS MATERIALIZED (
      SELECT file, rank, layer, regexp_match(label, '^([a-z]+)(?:([1-9][0-9]*)([A-Z]+)?)?$') AS part
      FROM square WHERE board_id = $1
    ), point AS MATERIALIZED (
      SELECT file, rank, layer, part[2]::numeric AS y, num_nonnulls(part[1], part[2], part[3]) AS dimensions,
        (SELECT sum((ascii(letter) - 96) * 26::numeric ^ (length(part[1]) - place))
          FROM string_to_table(part[1], NULL) WITH ORDINALITY AS of (letter, place)) AS x,
        (SELECT sum((ascii(letter) - 64) * 26::numeric ^ (length(part[3]) - place))
          FROM string_to_table(part[3], NULL) WITH ORDINALITY AS of (letter, place)) AS z
      FROM cell
    ), board AS MATERIALIZED (
      SELECT min(dimensions) > 0 AND min(dimensions) = max(dimensions)
        AND greatest(max(x), max(y), max(z)) <= {{farthest}} AS has_points FROM point
    )
    SELECT FROM point, board WHERE CASE WHEN has_points
      THEN (file, rank, layer) IS DISTINCT FROM (x::integer, y::integer, z::integer)
      ELSE num_nonnulls(file, rank, layer) > 0 END
  ) THEN
    RETURN 'file, rank and layer of its squares are not those of their labels';
  END IF;
  RETURN NULL;
END
$ggn$
