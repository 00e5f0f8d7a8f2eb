-- Whether the masks of a piece are those that `store/rulesets/masks.py` derives. Possibilities that make one row are
-- looked for from the first on, so whether a row is of two is decided by its first one.
-- Nobody has told the planner yet how many rows a piece has that is only just stored: it would go through all of its
-- conditions for each possibility, and it would plan anew for each piece. Hence the settings; and the LIMIT, so that it
-- does not expect a thousand words.
CREATE OR REPLACE FUNCTION ggn_fault_of_mask(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp SET plan_cache_mode = force_generic_plan SET enable_nestloop = off
SET enable_mergejoin = off SET jit = off SET work_mem = '64MB' AS $ggn$
DECLARE
  it piece;
  size bigint;
BEGIN
  SELECT * INTO it FROM piece WHERE id = $1;
  IF NOT FOUND THEN
    RETURN (SELECT 'its piece is not there' FROM mask WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023 LIMIT 1);
  END IF;
  SELECT count(*) INTO size FROM square WHERE board_id = it.board_id;
  IF it.words IS DISTINCT FROM (CASE WHEN size > 512 THEN 0 ELSE greatest(1, (size + 63) / 64) END) THEN
    RETURN 'its masks are not as long as its board asks for';
  END IF;
  SELECT count(*) INTO size FROM variant WHERE piece_id = $1;
  IF EXISTS (SELECT FROM mask WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023
        AND num_nonnulls({{every_word}}) <> {{kinds}} * it.words)
      OR (SELECT min(number) FROM mask WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023)
        IS DISTINCT FROM (CASE WHEN it.words > 0 AND size > 0 THEN 0 END) THEN
    RETURN 'its masks are not those of its rows';
  END IF;
  IF EXISTS (
    WITH word AS MATERIALIZED (
      SELECT generate_series(0, it.words - 1) AS word LIMIT {{most_words}}
    ), held AS (
      SELECT variant, square / 64 AS word, 1::bigint << (square % 64) AS bit, polarity = 'must' AS must,
        state = 'empty' AS empty, state = 'enemy' AS enemy, (state BETWEEN 'A' AND 'Z~') = (it.side = 'first') AS own
      FROM condition WHERE piece_id = $1
    ), derived AS (
      SELECT variant, word,
        bit_or(bit) FILTER (WHERE CASE WHEN must THEN NOT empty ELSE empty END) AS not_empty,
        bit_or(bit) FILTER (WHERE CASE WHEN must THEN empty OR own AND NOT enemy ELSE enemy END) AS not_enemy,
        bit_or(bit) FILTER (WHERE must AND (empty OR enemy OR NOT own)) AS not_own,
        bool_or(NOT (empty OR enemy)) AS exact
      FROM held GROUP BY variant, word
    ), possibility AS MATERIALIZED (
      SELECT variant.source, variant.destination, number, word.word, coalesce(not_empty, 0) AS not_empty,
        coalesce(not_enemy, 0) AS not_enemy, coalesce(not_own, 0) AS not_own,
        bool_or(coalesce(exact, false)) OVER (PARTITION BY number) AS exact
      FROM variant CROSS JOIN word LEFT JOIN derived ON derived.variant = number AND derived.word = word.word
      WHERE piece_id = $1
    ), two AS MATERIALIZED (
      SELECT number, word, first.not_enemy # second.not_enemy AS twin, first.exact OR second.exact AS exact,
        (first.not_enemy # second.not_enemy) & ~(first.not_enemy & first.not_own & ~first.not_empty) = 0
          AND second.not_empty = first.not_empty | (first.not_enemy # second.not_enemy)
          AND second.not_own = first.not_own AS is_pair
      FROM possibility AS first JOIN (
          SELECT source, destination, number - 1 AS number, word, not_empty, not_enemy, not_own, exact FROM possibility
        ) AS second USING (source, destination, number, word)
    ), pair AS MATERIALIZED (
      SELECT number FROM two GROUP BY number
      HAVING sum(bit_count(twin::bit(64))) = 1 AND bool_and(is_pair) AND NOT bool_or(exact)
    ), expected AS (
      SELECT source, number, word, exact, not_empty, not_enemy & ~coalesce(twin, 0) AS not_enemy, not_own,
        coalesce(twin, 0) AS twin
      FROM possibility LEFT JOIN (SELECT number, word, twin FROM two JOIN pair USING (number)) AS twins
        USING (number, word)
    ), stored AS MATERIALIZED (
      SELECT start - $1 * 1024 AS source, number, word, exact, {{words}}
      FROM mask CROSS JOIN word WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023
    )
    SELECT FROM (
        SELECT number, lead(number, 1, size::int) OVER (ORDER BY number) - number AS length
        FROM mask WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023
      ) AS listed LEFT JOIN pair USING (number)
    WHERE length <> CASE WHEN pair.number IS NULL THEN 1 ELSE 2 END
    UNION ALL
    SELECT FROM (SELECT source, number, word, exact, {{masks}} FROM stored
      EXCEPT SELECT source, number, word, exact, {{masks}} FROM expected) AS unexpected
  ) THEN
    RETURN 'its masks are not those of its rows';
  END IF;
  RETURN NULL;
END
$ggn$
