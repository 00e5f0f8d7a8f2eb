-- Part of two functions: what is said of the content `it`, whose pieces a table lists.
  IF EXISTS (SELECT FROM {{list}}_piece AS entry JOIN piece ON piece.id = entry.piece_id
      WHERE entry.{{list}}_id = $1 AND (piece.dialect <> it.dialect OR piece.board_id <> it.board_id))
      OR EXISTS (SELECT FROM {{list}}_piece AS entry WHERE entry.{{list}}_id = $1
        HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1)
      OR EXISTS (SELECT FROM {{list}}_piece AS entry JOIN piece ON piece.id = entry.piece_id
        WHERE entry.{{list}}_id = $1 GROUP BY piece.identifier HAVING count(*) > 1) THEN
    RETURN 'its pieces are not those of a document';
  END IF;
  SELECT string_agg(to_json(key)::text || ':' || to_json(value)::text, ','
      ORDER BY array_position(ARRAY[{{fields}}], key)),
    string_agg(to_json(key)::text || ': ' || to_json(value)::text, ', ' ORDER BY key COLLATE "C")
  INTO envelope, written
  FROM json_each_text(it.envelope::json)
  WHERE key IN ({{fields}});
  IF it.envelope <> '{' || coalesce(written, '') || '}'
      OR EXISTS (SELECT FROM json_object_keys(it.envelope::json) AS listed (key) GROUP BY key HAVING count(*) > 1) THEN
    RETURN 'its envelope is not as this program writes it';
  END IF;
  declared := it.envelope::json ->> 'variables';
  IF declared IS NOT NULL THEN
    SELECT '{' || string_agg(to_json(name)::text || ':{"values":[' || allowed || '],"initial":'
        || to_json(initial)::text
        || coalesce(',"square":' || to_json(square)::text || ',"pieces":[' || there || ']', '')
        || '}', ',' ORDER BY name COLLATE "C") || '}',
      count(*) = count(DISTINCT name)
      AND bool_and(name <> '' AND '' <> ALL (every_value) AND coalesce(initial = ANY (every_value), false)
        AND (square IS NULL OR (square <> '' AND '' <> ALL (every_piece) AND every_value = ARRAY['no', 'yes'])))
    INTO written, is_sound
    FROM (
      SELECT key AS name, value ->> 'initial' AS initial,
        ARRAY(SELECT json_array_elements_text(value -> 'values')) AS every_value,
        (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM (SELECT DISTINCT word FROM json_array_elements_text(value -> 'values') AS listed_value (word)) AS words
        ) AS allowed,
        value ->> 'square' AS square,
        ARRAY(SELECT json_array_elements_text(value -> 'pieces')) AS every_piece,
        (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM (SELECT DISTINCT word FROM json_array_elements_text(value -> 'pieces') AS listed_piece (word)) AS words
        ) AS there
      FROM json_each(declared::json)
    ) AS variable;
    IF it.dialect <> 'gdl' OR declared IS DISTINCT FROM written OR is_sound IS DISTINCT FROM true THEN
      RETURN 'its state variables are not as this program writes them';
    END IF;
  END IF;
  IF it.dialect = 'gdl' AND EXISTS (SELECT FROM (
        SELECT variable, guard.value AS word
        FROM {{list}}_piece AS entry JOIN guard ON guard.piece_id = entry.piece_id WHERE entry.{{list}}_id = $1
        UNION SELECT variable, state_effect.value
        FROM {{list}}_piece AS entry JOIN state_effect ON state_effect.piece_id = entry.piece_id
        WHERE entry.{{list}}_id = $1
      ) AS named WHERE NOT EXISTS (
        SELECT FROM json_array_elements_text(declared::json -> named.variable -> 'values') AS known (word)
        WHERE known.word = named.word)) THEN
    RETURN 'its pieces name a state that it does not declare';
  END IF;
  IF ggn_is_play(it.envelope::json ->> 'play') IS NOT TRUE THEN
    RETURN 'how it is played is not as this program writes it';
  END IF;
  SELECT string_agg(to_json(piece.digest)::text, ',' ORDER BY ordinal) INTO listed
  FROM {{list}}_piece AS entry JOIN piece ON piece.id = entry.piece_id WHERE entry.{{list}}_id = $1;
  written := '[' || to_json(it.dialect)::text || ','
    || to_json((SELECT digest FROM board WHERE id = it.board_id))::text || ',{' || coalesce(envelope, '') || '},['
    || coalesce(listed, '') || ']]';
  IF it.digest IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex') THEN
    RETURN 'its pieces and envelope do not give its digest';
  END IF;
