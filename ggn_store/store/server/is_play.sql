-- Whether a text declares how a game is played as `model.play.text` writes it; NULL declares nothing.
CREATE OR REPLACE FUNCTION ggn_is_play(declared text) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  play json;
  written text;
BEGIN
  IF declared IS NULL THEN
    RETURN true;
  END IF;
  play := declared::json;
  written := '{' || concat_ws(',',
    '"duties":[' || (SELECT string_agg(CASE json_typeof(value) WHEN 'string' THEN to_json(value #>> '{}')::text
        ELSE '{"name":' || to_json(value ->> 'name')::text || ',"pieces":[' || (
          SELECT string_agg(to_json(piece)::text, ',' ORDER BY piece COLLATE "C")
          FROM json_array_elements_text(value -> 'pieces') AS listed (piece)) || ']}' END,
        ',' ORDER BY coalesce(value ->> 'name', value #>> '{}') COLLATE "C")
      FROM json_array_elements(play -> 'duties')) || ']',
    '"reverts":{' || (SELECT string_agg(to_json(key)::text || ':' || to_json(value)::text, ',' ORDER BY key COLLATE "C")
      FROM json_each_text(play -> 'reverts')) || '}',
    '"crossing":[' || (SELECT string_agg('{"piece":' || to_json(value ->> 'piece')::text || ',"source":'
        || to_json(value ->> 'source')::text || ',"destination":' || to_json(value ->> 'destination')::text
        || ',"through":[' || (SELECT string_agg(to_json(label)::text, ',' ORDER BY place)
          FROM json_array_elements_text(value -> 'through') WITH ORDINALITY AS listed (label, place)) || ']}', ','
        ORDER BY value ->> 'piece' COLLATE "C", value ->> 'source' COLLATE "C", value ->> 'destination' COLLATE "C",
          number)
      FROM json_array_elements(play -> 'crossing') WITH ORDINALITY AS listed (value, number)) || ']',
    '"outcome":[' || (SELECT string_agg('{' || concat_ws(',',
        '"when":' || to_json(value ->> 'when')::text, '"verdict":' || to_json(value ->> 'verdict')::text,
        '"side":' || to_json(value ->> 'side')::text,
        '"pieces":[' || (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM json_array_elements_text(value -> 'pieces') AS listed (word)) || ']',
        '"squares":[' || (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM json_array_elements_text(value -> 'squares') AS listed (word)) || ']',
        '"count":' || (value ->> 'count')::integer,
        '"in_check":' || CASE (value ->> 'in_check')::boolean WHEN true THEN 'true' WHEN false THEN 'false' END,
        CASE (value ->> 'safe')::boolean WHEN true THEN '"safe":true' END,
        CASE (value ->> 'answered')::boolean WHEN true THEN '"answered":true' END,
        '"other":' || (value ->> 'other')::integer,
        CASE (value ->> 'perpetual')::boolean WHEN true THEN '"perpetual":true' END,
        '"edges":[' || (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM json_array_elements_text(value -> 'edges') AS listed (word)) || ']',
        '"ways":[' || (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM json_array_elements_text(value -> 'ways') AS listed (word)) || ']') || '}', ',' ORDER BY number)
      FROM json_array_elements(play -> 'outcome') WITH ORDINALITY AS listed (value, number)) || ']',
    '"host":[' || (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
      FROM json_array_elements_text(play -> 'host') AS listed (word)) || ']') || '}';
  RETURN declared = written AND written <> '{}'
    AND NOT EXISTS (SELECT FROM json_array_elements(play -> 'duties')
      WHERE coalesce(value ->> 'name', value #>> '{}') <> ALL (ARRAY[{{duties}}]))
    AND NOT EXISTS (SELECT FROM json_array_elements_text(play -> 'host') WHERE value <> ALL (ARRAY[{{host}}]))
    AND NOT EXISTS (SELECT FROM json_array_elements(play -> 'outcome')
      WHERE (value ->> 'when' = ANY (ARRAY[{{kinds}}]) AND value ->> 'verdict' = ANY (ARRAY[{{verdicts}}])
        AND coalesce(value ->> 'side', 'first') IN ('first', 'second')
        AND coalesce((value ->> 'count')::integer, 1) BETWEEN (value ->> 'when' <> 'extinct')::integer AND {{most}}
        AND coalesce((value ->> 'other')::integer, 1) BETWEEN 0 AND {{most}}) IS NOT TRUE)
    AND NOT EXISTS (SELECT FROM json_array_elements(play -> 'outcome') AS said (value), json_object_keys(value) AS key
      WHERE key NOT IN ('when', 'verdict', 'side') AND value ->> 'when' || ' ' || key <> ALL (ARRAY[{{allowed}}]))
    AND NOT EXISTS (SELECT FROM json_array_elements(play -> 'outcome') AS said (value), unnest(ARRAY[{{needed}}]) AS need
      WHERE value ->> 'when' = split_part(need, ' ', 1) AND value -> split_part(need, ' ', 2) IS NULL)
    AND NOT EXISTS (SELECT FROM json_array_elements(play -> 'outcome') AS said (value),
        json_array_elements_text(value -> 'edges') AS edge WHERE edge !~ '^[^ ]+( [^ ]+)*$')
    AND NOT EXISTS (SELECT FROM json_array_elements(play -> 'outcome') AS said (value),
        json_array_elements_text(value -> 'ways') AS way WHERE way !~ '^-?[0-9]{1,3}( -?[0-9]{1,3})*$')
    AND (SELECT count(*) = count(DISTINCT coalesce(value ->> 'name', value #>> '{}'))
      FROM json_array_elements(play -> 'duties'))
    AND (SELECT count(*) = count(DISTINCT value::text) FROM json_array_elements(play -> 'outcome'))
    AND NOT EXISTS (SELECT FROM jsonb_path_query(declared::jsonb, '$.**') AS word
      WHERE jsonb_typeof(word) = 'string' AND length(word #>> '{}') NOT BETWEEN 1 AND {{longest}})
    AND NOT EXISTS (SELECT FROM json_object_keys(coalesce(play -> 'reverts', '{}')) AS word
      WHERE length(word) NOT BETWEEN 1 AND {{longest}});
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN false;
END
$ggn$
