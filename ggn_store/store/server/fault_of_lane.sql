-- Whether the lanes of a piece say what its rows say, as `store/rulesets/lanes.py` reads them: any other lanes that say
-- the same would do as well. Nobody has told the planner yet how many rows a piece has that is only just stored, and it
-- would plan anew for each piece: hence the settings.
CREATE OR REPLACE FUNCTION ggn_fault_of_lane(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp SET plan_cache_mode = force_generic_plan SET enable_nestloop = off
SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $ggn$
DECLARE
  it piece;
  size bigint;
  lowest bigint := $1 << {{bits}};
  highest bigint := ($1 << {{bits}}) + (1::bigint << {{bits}}) - 1;
BEGIN
  SELECT * INTO it FROM piece WHERE id = $1;
  IF NOT FOUND THEN
    RETURN (SELECT 'its piece is not there' FROM lane WHERE key BETWEEN lowest AND highest LIMIT 1);
  END IF;
  IF it.lanes IS DISTINCT FROM {{version}} THEN
    RETURN 'its lanes are of another version';
  END IF;
  SELECT greatest(1, count(*)) INTO size FROM square WHERE board_id = it.board_id;
  -- The facts of each lane are chains without gaps, of which all but the last fact are on the path or passed.
  IF EXISTS (
    SELECT FROM (
      SELECT *, ~(-1::bigint << length) AS every, (first >> 1) | (1::bigint << length - 1) AS last
      FROM (
        SELECT *, array_length(string_to_array(facts, ' '), 1) AS length
        FROM lane WHERE key BETWEEN lowest AND highest
      ) AS listed
    ) AS masked
    WHERE NOT coalesce(length <= {{most_facts}} AND facts ~ '^[0-9]{1,9}([ +][0-9]{1,9})*$'
      AND numbers ~ '^[0-9]{1,9}( [0-9]{1,9})*$' AND statements ~ '^\[.*\]$' AND each > 0 AND target > 0
      AND first & 1 = 1 AND first & ~every = 0 AND target & ~every = 0 AND path & passed = 0
      AND (path | passed) = every & ~last, false)
  ) OR EXISTS (
    WITH said AS MATERIALIZED (
      SELECT key, item.place - 1 AS number, item.value,
        CASE jsonb_typeof(item.value) WHEN 'string' THEN string_to_array(item.value #>> '{}', '|') END AS alternatives
      FROM lane CROSS JOIN jsonb_array_elements(statements::jsonb) WITH ORDINALITY AS item (value, place)
      WHERE key BETWEEN lowest AND highest
    ), fact AS MATERIALIZED (
      SELECT lane.key, place - 1 AS place, of.square::bigint % size AS square, of.square::bigint / size AS statement,
        target >> place::integer - 1 & 1 = 1 AS is_target, path >> place::integer - 1 & 1 = 1 AS is_path,
        bit_count((first & ~(-1::bigint << place::integer))::bit(64)) AS chain,
        -- Of several squares, the one that the numbers are listed for.
        of.square IS NOT DISTINCT FROM split_part(listed.fact, '+', 1) AS is_first
      FROM lane
        CROSS JOIN string_to_table(facts, ' ') WITH ORDINALITY AS listed (fact, place)
        CROSS JOIN string_to_table(listed.fact, '+') AS of (square)
      WHERE key BETWEEN lowest AND highest
    ), stated AS MATERIALIZED (
      SELECT fact.*, said.value, said.alternatives, coalesce(array_length(said.alternatives, 1), 1) AS kinds
      FROM fact LEFT JOIN said ON said.key = fact.key AND said.number = fact.statement
    ), aim AS MATERIALIZED (
      SELECT key, place, chain, alternative,
        row_number() OVER (PARTITION BY key ORDER BY place, alternative) AS rank
      FROM stated CROSS JOIN generate_series(1, kinds) AS alternative
      WHERE is_target AND is_first
    ), held AS MATERIALIZED (
      SELECT aim.key, aim.place, aim.chain, aim.alternative, listed.number::bigint AS number
      FROM aim JOIN lane ON lane.key = aim.key
        CROSS JOIN string_to_table(lane.numbers, ' ') WITH ORDINALITY AS listed (number, place)
      WHERE (listed.place - 1) / lane.each + 1 = aim.rank AND lane.key BETWEEN lowest AND highest
    ), claimed AS MATERIALIZED (
      SELECT held.number, held.key >> {{lanes}} & {{sources}} AS source,
        CASE WHEN jsonb_typeof(stated.value) = 'string' THEN stated.square END AS square,
        CASE WHEN stated.place < held.place OR kinds = 1 THEN stated.value
          ELSE to_jsonb(stated.alternatives[held.alternative]) END AS value,
        stated.place < held.place AND kinds > 1
          OR kinds > 1 AND stated.alternatives[held.alternative] ~ '^(empty|enemy|.*!.*|)$' AS is_wrong
      FROM held JOIN stated ON stated.key = held.key AND stated.chain = held.chain
        AND (stated.place = held.place OR stated.place < held.place AND stated.is_path)
    ), asked AS MATERIALIZED (
      SELECT variant AS number, square, to_jsonb(coalesce(min(state) FILTER (WHERE polarity = 'must'), '')
        || coalesce('!' || min(state) FILTER (WHERE polarity = 'deny'), '')) AS value
      FROM condition WHERE piece_id = $1 GROUP BY variant, square
      UNION ALL
      SELECT variant, NULL, to_jsonb(ARRAY[variable] || array_agg(value ORDER BY value COLLATE "C"))
      FROM guard WHERE piece_id = $1 GROUP BY variant, variable
    )
    SELECT FROM claimed WHERE value IS NULL OR is_wrong
    UNION ALL SELECT FROM said WHERE alternatives IS NOT NULL
      AND array_length(alternatives, 1) > (SELECT count(DISTINCT each) FROM unnest(alternatives) AS of (each))
    UNION ALL SELECT FROM lane JOIN (SELECT key, count(*) AS aims FROM aim GROUP BY key) AS counted USING (key)
      WHERE array_length(string_to_array(numbers, ' '), 1) <> aims * each
    UNION ALL SELECT FROM (SELECT number FROM held) AS listed FULL JOIN (
        SELECT number FROM variant WHERE piece_id = $1) AS stored USING (number)
      GROUP BY number HAVING count(*) <> 1 OR count(listed) <> 1 OR count(stored) <> 1
    UNION ALL SELECT FROM held JOIN variant ON variant.piece_id = $1 AND variant.number = held.number
        JOIN source ON source.piece_id = $1 AND source.ordinal = variant.source
      WHERE held.key >> {{lanes}} & {{sources}} <> coalesce(source.square + 1, 0)
    UNION ALL SELECT FROM (
      SELECT number, square, value FROM claimed WHERE value <> '""' EXCEPT SELECT number, square, value FROM asked
    ) AS unfounded
    UNION ALL SELECT FROM (
      SELECT number, square, value FROM asked EXCEPT SELECT number, square, value FROM claimed
    ) AS forgotten
  ) THEN
    RETURN 'its lanes are not those of its rows';
  END IF;
  RETURN NULL;
EXCEPTION WHEN data_exception THEN
  RETURN 'its lanes are not those of its rows';
END
$ggn$
