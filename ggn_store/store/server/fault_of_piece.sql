-- Whether the rows of a piece are those of a document, and of its digest. The formulas are those of
-- `model.document.Digests` and `Piece.data`. A join to a square that is not on the board, or two states of one square,
-- would give a text that the rows do not say: these are refused first.
-- Nobody has told the planner yet how many rows a piece has that is only just stored: it would go through all of its
-- conditions for each possibility, and it would plan anew for each piece. Hence the settings; and OFFSET 0, so that
-- a name that occurs in a thousand rows is looked at once.
CREATE OR REPLACE FUNCTION ggn_fault_of_piece(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp SET plan_cache_mode = force_generic_plan SET enable_nestloop = off
SET jit = off SET work_mem = '64MB' AS $ggn$
DECLARE
  it piece;
  board_digest text;
  size bigint;
  content text;
BEGIN
  SELECT * INTO it FROM piece WHERE id = $1;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  SELECT digest INTO board_digest FROM board WHERE id = it.board_id;
  SELECT count(*) INTO size FROM square WHERE board_id = it.board_id;
  IF length(it.identifier) > 255
      OR it.identifier !~ '{{identifier}}'
      OR (it.style, it.letter, it.side, it.state, it.terminal, it.derived) IS DISTINCT FROM (
        upper(split_part(it.identifier, ':', 1)),
        upper(substring(it.identifier FROM ':[-+]?(.)')),
        CASE WHEN it.identifier ~ '^[A-Z]' THEN 'first' ELSE 'second' END,
        substring(it.identifier FROM ':([-+]?)'),
        strpos(it.identifier, '^') > 0,
        it.identifier LIKE '%''') THEN
    RETURN 'its identifier is not what its columns say';
  END IF;
  IF EXISTS (SELECT FROM source WHERE piece_id = $1 HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1
        OR count(DISTINCT coalesce(square, -1)) <> count(*) OR min(square) < 0 OR max(square) >= size)
      OR EXISTS (SELECT FROM destination WHERE piece_id = $1 GROUP BY source
        HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1
        OR count(DISTINCT coalesce(square, -1)) <> count(*) OR min(square) < 0 OR max(square) >= size)
      OR EXISTS (SELECT FROM variant WHERE piece_id = $1 GROUP BY source, destination
        HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1)
      OR EXISTS (SELECT FROM (
        SELECT number, toggle, row_number() OVER (ORDER BY source, destination, ordinal) - 1 AS place
        FROM variant WHERE piece_id = $1) AS listed
        WHERE number <> place OR toggle IS DISTINCT FROM CASE it.dialect
          WHEN 'must-deny' THEN NULL WHEN 'perform' THEN true ELSE coalesce(toggle, NOT toggle) END
          OR it.dialect IN ('diff', 'gdl') AND toggle IS NULL)
      OR EXISTS (SELECT FROM condition WHERE piece_id = $1 GROUP BY variant, polarity, square
        HAVING count(*) > 1 OR min(square) < 0 OR max(square) >= size)
      OR EXISTS (SELECT FROM effect WHERE piece_id = $1
        HAVING min(square) < 0 OR max(square) >= size OR it.dialect = 'must-deny' AND count(*) > 0)
      OR it.dialect NOT IN ('diff', 'gdl') AND EXISTS (SELECT FROM hand_effect WHERE piece_id = $1)
      OR it.dialect <> 'gdl' AND (EXISTS (SELECT FROM variant_origin WHERE piece_id = $1)
        OR EXISTS (SELECT FROM guard WHERE piece_id = $1) OR EXISTS (SELECT FROM state_effect WHERE piece_id = $1))
      OR EXISTS (SELECT FROM variant_origin WHERE piece_id = $1 AND step NOT BETWEEN 1 AND {{most_steps}})
      OR EXISTS (SELECT FROM (
          SELECT action FROM variant_origin WHERE piece_id = $1
          UNION SELECT variable FROM guard WHERE piece_id = $1 UNION SELECT value FROM guard WHERE piece_id = $1
          UNION SELECT variable FROM state_effect WHERE piece_id = $1
          UNION SELECT value FROM state_effect WHERE piece_id = $1
        ) AS said (word) WHERE length(word) NOT BETWEEN 1 AND 255)
      OR EXISTS (SELECT FROM (
          SELECT state FROM condition WHERE piece_id = $1 AND state NOT IN ('empty', 'enemy')
          UNION SELECT becomes FROM effect WHERE piece_id = $1
          UNION SELECT piece FROM hand_effect WHERE piece_id = $1
          OFFSET 0
        ) AS named (piece) WHERE length(piece) > 255 OR piece !~ '{{identifier}}') THEN
    RETURN 'its rows are not those of a document';
  END IF;
  WITH label AS MATERIALIZED (
    SELECT number, to_json(label)::text || ':' AS key, row_number() OVER (ORDER BY label COLLATE "C") AS rank
    FROM square WHERE board_id = it.board_id
  ), held AS (
    SELECT variant, string_agg(said, ',') FILTER (WHERE polarity = 'must') AS must,
      string_agg(said, ',') FILTER (WHERE polarity = 'deny') AS deny
    FROM (
      SELECT variant, polarity, key || '"' || state || '"' AS said
      FROM condition JOIN label ON label.number = square WHERE piece_id = $1 ORDER BY variant, rank
    ) AS ranked GROUP BY variant
  ), changed AS (
    SELECT variant, string_agg(said, ',') AS board
    FROM (
      SELECT variant, key || coalesce('"' || becomes || '"', 'null') AS said
      FROM effect JOIN label ON label.number = square WHERE piece_id = $1 ORDER BY variant, rank
    ) AS ranked GROUP BY variant
  ), taken AS (
    SELECT variant, string_agg(to_json(piece)::text || ':' || delta, ',' ORDER BY piece COLLATE "C") AS hands
    FROM hand_effect WHERE piece_id = $1 GROUP BY variant
  ), given AS (
    SELECT variant, '"action":{"name":' || to_json(action)::text || ',"step":' || step
      || CASE WHEN chainable THEN ',"chainable":true' ELSE '' END || '}' AS action
    FROM variant_origin WHERE piece_id = $1
  ), guarded AS (
    SELECT variant, string_agg(to_json(variable)::text || ':[' || allowed || ']', ','
        ORDER BY variable COLLATE "C") AS guards
    FROM (
      SELECT variant, variable, string_agg(to_json(value)::text, ',' ORDER BY value COLLATE "C") AS allowed
      FROM guard WHERE piece_id = $1 GROUP BY variant, variable
    ) AS allowing GROUP BY variant
  ), stated AS (
    SELECT variant, string_agg(to_json(variable)::text || ':' || to_json(value)::text, ','
        ORDER BY variable COLLATE "C") AS state
    FROM state_effect WHERE piece_id = $1 GROUP BY variant
  ), possibility AS (
    SELECT source, destination, string_agg(said, ',') AS content
    FROM (
      SELECT source, destination, '{' || concat_ws(',',
          given.action,
          '"when":{' || guards || '}',
          CASE it.dialect WHEN 'perform' THEN '"require":{' ELSE '"must":{' END || must || '}',
          CASE it.dialect WHEN 'perform' THEN '"prevent":{' ELSE '"deny":{' END || deny || '}',
          CASE it.dialect
            WHEN 'perform' THEN '"perform":{' || coalesce(board, '') || '}'
            WHEN 'must-deny' THEN NULL
            ELSE '"diff":{' || concat_ws(',', '"board":{' || board || '}', '"hands":{' || hands || '}',
              CASE WHEN NOT toggle THEN '"toggle":false' END, '"state":{' || stated.state || '}') || '}' END
        ) || '}' AS said
      FROM variant
        LEFT JOIN held ON held.variant = variant.number
        LEFT JOIN changed ON changed.variant = variant.number
        LEFT JOIN taken ON taken.variant = variant.number
        LEFT JOIN given ON given.variant = variant.number
        LEFT JOIN guarded ON guarded.variant = variant.number
        LEFT JOIN stated ON stated.variant = variant.number
      WHERE piece_id = $1 ORDER BY source, destination, ordinal
    ) AS ranked GROUP BY source, destination
  ), led AS (
    SELECT destination.source,
      string_agg(coalesce(key, '"*":') || '[' || coalesce(possibility.content, '') || ']', ','
        ORDER BY destination.ordinal) AS content
    FROM destination
      LEFT JOIN possibility ON possibility.source = destination.source
        AND possibility.destination = destination.ordinal
      LEFT JOIN label ON label.number = destination.square
    WHERE destination.piece_id = $1 GROUP BY destination.source
  )
  SELECT string_agg(coalesce(key, '"*":') || '{' || coalesce(led.content, '') || '}', ',' ORDER BY source.ordinal)
  INTO content
  FROM source LEFT JOIN led ON led.source = source.ordinal LEFT JOIN label ON label.number = source.square
  WHERE source.piece_id = $1;
  content := '[' || to_json(it.dialect)::text || ',' || to_json(board_digest)::text || ','
    || to_json(it.identifier)::text || ',{' || coalesce(content, '') || '}]';
  IF it.digest IS DISTINCT FROM encode(sha256(convert_to(content, 'UTF8')), 'hex') THEN
    RETURN 'its rows do not give its digest';
  END IF;
  RETURN NULL;
END
$ggn$
