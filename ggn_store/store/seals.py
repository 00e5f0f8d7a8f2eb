"""What a Postgres server with roles watches over beyond rights: SQL that `store.roles` puts into its script.

Rights say who may insert into which table. These triggers say what may be inserted: rows only of a piece, board or
revision that the same transaction has made, and only such that every digest is the one of its rows; and that nobody
removes some rows of a piece without the rest. The owner of the tables, who could take the triggers away, is not held
up by them.

Each statement notes in `ggn_unchecked` what it has touched, and a deferred trigger on that table checks it before the
commit. Who asks for the check earlier (SET CONSTRAINTS) and then adds a row has it noted again.
"""

from __future__ import annotations

from dataclasses import dataclass

from ggn_store.model.document import MAX_STEP, Envelope
from ggn_store.notation import qpi
from ggn_store.store import tables as t

UNCHECKED = "ggn_unchecked"

# Nobody has told the planner yet how many rows a piece has that is only just stored: it would go through all of its
# conditions for each possibility.
_MANY_ROWS = ("enable_nestloop = off", "jit = off", "work_mem = '64MB'")

# How far the clock of whoever writes a revision may be ahead of the server's.
CLOCKS_DIFFER = "1 day"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of plpgsql, which runs with the rights of the tables' owner where it is a `definer`."""

    name: str
    body: str
    arguments: str = ""
    returns: str = "trigger"
    is_definer: bool = False
    may_call: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The name with the types of the arguments."""
        return f"{self.name}({self.arguments})"

    def kept_settings(self, schema: str) -> str:
        """The settings as Postgres keeps them, with semicolons between them."""
        path = f"search_path=pg_catalog, {schema}, pg_temp"
        return ";".join([path, *(each.replace(" = ", "=").replace("'", "") for each in self.settings)])


# Of the 64 bits of a transaction's number a row keeps the lower half. A row that can be seen, made by a transaction
# that is still going on, is of this one, or of a savepoint in it.
_IS_OURS = Function(
    "ggn_is_ours",
    """
DECLARE
  now_on bigint := pg_current_xact_id()::text::bigint;
  at bigint := (now_on >> 32 << 32) + $1::text::bigint;
BEGIN
  IF at = now_on THEN
    RETURN true;
  END IF;
  at := at + CASE WHEN at - now_on > 2147483648 THEN -4294967296 ELSE 0 END
    + CASE WHEN now_on - at > 2147483648 THEN 4294967296 ELSE 0 END;
  RETURN at > 0 AND coalesce(pg_xact_status(at::text::xid8) = 'in progress', false);
END
""",
    arguments="xid",
    returns="boolean",
    may_call=("ggn_author", "ggn_admin"),
)

_SEAL = """
DECLARE
  touched bigint[];
BEGIN
  IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN NULL;
  END IF;
  touched := ARRAY(SELECT DISTINCT {key} FROM touched_rows);
  {only_of_ours}INSERT INTO ggn_unchecked (kind, id)
  SELECT noted.kind, each.id FROM unnest(touched) AS each (id) CROSS JOIN unnest(ARRAY{kinds}) AS noted (kind)
  WHERE NOT EXISTS (SELECT FROM ggn_unchecked AS known WHERE known.kind = noted.kind AND known.id = each.id);
  RETURN NULL;
END
"""

_ONLY_OF_OURS = """IF {unless}EXISTS (
    SELECT FROM unnest(touched) AS each (id)
    WHERE NOT EXISTS (SELECT FROM {parent} AS made WHERE made.id = each.id AND ggn_is_ours(made.xmin))
  ) THEN
    RAISE EXCEPTION 'ggn_store: rows are only added to a {parent} that the same transaction makes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  """


def _sealing(parent: str, key: str, kind: str | None = None, unless: str = "") -> str:
    only = _ONLY_OF_OURS.format(parent=parent, unless=unless)
    return _SEAL.format(key=key, kinds=[kind or parent], only_of_ours=only)


def _noting(*kinds: str, key: str = "id") -> str:
    return _SEAL.format(key=key, kinds=[*kinds], only_of_ours="")


# JSON as Python writes it with separators=(",", ":") and ensure_ascii=False; to_json escapes the same characters.
_BOARD_FAULT = Function(
    "ggn_fault_of_board",
    """
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
""",
    arguments="bigint",
    returns="text",
)

# A ruleset begins with a revision, or with the proposal of one.
_UNUSED = " AND ".join(
    f"EXISTS (SELECT FROM ruleset WHERE id = $1) AND NOT EXISTS (SELECT FROM {table} WHERE ruleset_id = $1)"
    for table in ("revision", "proposal")
    if table in t.metadata.tables
)

_RULESET_FAULT = Function(
    "ggn_fault_of_ruleset",
    """
BEGIN
  IF {unused} THEN
    RETURN 'it has no revision';
  END IF;
  IF EXISTS (SELECT FROM ruleset WHERE id = $1 AND (length(name) > 200
      OR name !~ '^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$')) THEN
    RETURN 'its name is not one of a ruleset';
  END IF;
  RETURN NULL;
END
""".replace("{unused}", _UNUSED),
    arguments="bigint",
    returns="text",
)

_IDENTIFIER = f"^(?:{qpi.PATTERN})$".replace("'", "''")

# The formulas are those of `model.document.Digests` and `Piece.data`. A join to a square that is not on the board, or
# two states of one square, would give a text that the rows do not say: these are refused first.
_PIECE_FAULT = Function(
    "ggn_fault_of_piece",
    """
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
      OR it.identifier !~ '{identifier}'
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
      OR EXISTS (SELECT FROM condition WHERE piece_id = $1 HAVING min(square) < 0 OR max(square) >= size)
      OR EXISTS (SELECT FROM condition WHERE piece_id = $1 GROUP BY variant, polarity, square HAVING count(*) > 1)
      OR EXISTS (SELECT FROM effect WHERE piece_id = $1
        HAVING min(square) < 0 OR max(square) >= size OR it.dialect = 'must-deny' AND count(*) > 0)
      OR it.dialect NOT IN ('diff', 'gdl') AND EXISTS (SELECT FROM hand_effect WHERE piece_id = $1)
      OR it.dialect <> 'gdl' AND (EXISTS (SELECT FROM variant_origin WHERE piece_id = $1)
        OR EXISTS (SELECT FROM guard WHERE piece_id = $1) OR EXISTS (SELECT FROM state_effect WHERE piece_id = $1))
      OR EXISTS (SELECT FROM variant_origin WHERE piece_id = $1 AND step NOT BETWEEN 1 AND {most_steps})
      OR EXISTS (SELECT FROM (
          SELECT action FROM variant_origin WHERE piece_id = $1
          UNION SELECT variable FROM guard WHERE piece_id = $1 UNION SELECT value FROM guard WHERE piece_id = $1
          UNION SELECT variable FROM state_effect WHERE piece_id = $1
          UNION SELECT value FROM state_effect WHERE piece_id = $1
        ) AS said (word) WHERE length(word) NOT BETWEEN 1 AND 255)
      OR EXISTS (SELECT FROM (
          SELECT state FROM condition WHERE piece_id = $1 AND state NOT IN ('empty', 'enemy')
          UNION SELECT becomes FROM effect WHERE piece_id = $1 AND becomes IS NOT NULL
          UNION SELECT piece FROM hand_effect WHERE piece_id = $1
        ) AS named (piece) WHERE length(piece) > 255 OR piece !~ '{identifier}') THEN
    RETURN 'its rows are not those of a document';
  END IF;
  WITH label AS MATERIALIZED (
    SELECT number, to_json(label)::text || ':' AS key, row_number() OVER (ORDER BY label COLLATE "C") AS rank
    FROM square WHERE board_id = it.board_id
  ), held AS (
    SELECT variant,
      string_agg(key || to_json(state)::text, ',' ORDER BY rank) FILTER (WHERE polarity = 'must') AS must,
      string_agg(key || to_json(state)::text, ',' ORDER BY rank) FILTER (WHERE polarity = 'deny') AS deny
    FROM condition JOIN label ON label.number = square WHERE piece_id = $1 GROUP BY variant
  ), changed AS (
    SELECT variant, string_agg(key || coalesce(to_json(becomes)::text, 'null'), ',' ORDER BY rank) AS board
    FROM effect JOIN label ON label.number = square WHERE piece_id = $1 GROUP BY variant
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
    SELECT source, destination, string_agg('{' || concat_ws(',',
        given.action,
        '"when":{' || guards || '}',
        CASE it.dialect WHEN 'perform' THEN '"require":{' ELSE '"must":{' END || must || '}',
        CASE it.dialect WHEN 'perform' THEN '"prevent":{' ELSE '"deny":{' END || deny || '}',
        CASE it.dialect
          WHEN 'perform' THEN '"perform":{' || coalesce(board, '') || '}'
          WHEN 'must-deny' THEN NULL
          ELSE '"diff":{' || concat_ws(',', '"board":{' || board || '}', '"hands":{' || hands || '}',
            CASE WHEN NOT toggle THEN '"toggle":false' END, '"state":{' || stated.state || '}') || '}' END
      ) || '}', ',' ORDER BY ordinal) AS content
    FROM variant
      LEFT JOIN held ON held.variant = variant.number
      LEFT JOIN changed ON changed.variant = variant.number
      LEFT JOIN taken ON taken.variant = variant.number
      LEFT JOIN given ON given.variant = variant.number
      LEFT JOIN guarded ON guarded.variant = variant.number
      LEFT JOIN stated ON stated.variant = variant.number
    WHERE piece_id = $1 GROUP BY source, destination
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
""".replace("{identifier}", _IDENTIFIER).replace("{most_steps}", str(MAX_STEP)),
    arguments="bigint",
    returns="text",
    settings=_MANY_ROWS,
)

_FIELDS = ", ".join(f"'{name}'" for name in Envelope.__slots__)

# The formulas are those of `model.document.revision_digest` and `model.revision.lineage`.
_REVISION_FAULT = Function(
    "ggn_fault_of_revision",
    """
DECLARE
  it revision;
  parent revision;
  merged revision;
  united bigint;
  envelope text;
  written text;
  listed text;
  declared text;
  is_sound boolean;
BEGIN
  SELECT * INTO it FROM revision WHERE id = $1;
  IF it.number <> 1 AND NOT EXISTS (
      SELECT FROM revision WHERE ruleset_id = it.ruleset_id AND number = it.number - 1) OR it.number < 1 THEN
    RETURN 'it does not follow the newest revision of its ruleset';
  END IF;
  SELECT parent_id INTO united FROM revision_merge WHERE revision_id = $1;
  SELECT * INTO parent FROM revision WHERE id = it.parent_id;
  SELECT * INTO merged FROM revision WHERE id = united;
  IF parent.ruleset_id <> it.ruleset_id OR parent.number >= it.number
      OR merged.ruleset_id <> it.ruleset_id OR merged.number >= it.number THEN
    RETURN 'a parent of it is not an earlier revision of its ruleset';
  END IF;
  IF it.created_at > clock_timestamp() + interval '{clocks_differ}' THEN
    RETURN 'it was made in the future';
  END IF;
  IF EXISTS (SELECT FROM revision_piece AS entry JOIN piece ON piece.id = entry.piece_id
      WHERE entry.revision_id = $1 AND (piece.dialect <> it.dialect OR piece.board_id <> it.board_id))
      OR EXISTS (SELECT FROM revision_piece AS entry WHERE entry.revision_id = $1
        HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1)
      OR EXISTS (SELECT FROM revision_piece AS entry JOIN piece ON piece.id = entry.piece_id
        WHERE entry.revision_id = $1 GROUP BY piece.identifier HAVING count(*) > 1) THEN
    RETURN 'its pieces are not those of a document';
  END IF;
  SELECT string_agg(to_json(key)::text || ':' || to_json(value)::text, ','
      ORDER BY array_position(ARRAY[{fields}], key)),
    string_agg(to_json(key)::text || ': ' || to_json(value)::text, ', ' ORDER BY key COLLATE "C")
  INTO envelope, written
  FROM json_each_text(it.envelope::json)
  WHERE key IN ({fields});
  IF it.envelope <> '{' || coalesce(written, '') || '}'
      OR EXISTS (SELECT FROM json_object_keys(it.envelope::json) AS listed (key) GROUP BY key HAVING count(*) > 1) THEN
    RETURN 'its envelope is not as this program writes it';
  END IF;
  declared := it.envelope::json ->> 'variables';
  IF declared IS NOT NULL THEN
    SELECT '{' || string_agg(to_json(name)::text || ':{"values":[' || allowed || '],"initial":'
        || to_json(initial)::text || '}', ',' ORDER BY name COLLATE "C") || '}',
      count(*) = count(DISTINCT name)
      AND bool_and(name <> '' AND '' <> ALL (every_value) AND coalesce(initial = ANY (every_value), false))
    INTO written, is_sound
    FROM (
      SELECT key AS name, value ->> 'initial' AS initial,
        ARRAY(SELECT json_array_elements_text(value -> 'values')) AS every_value,
        (SELECT string_agg(to_json(word)::text, ',' ORDER BY word COLLATE "C")
          FROM (SELECT DISTINCT word FROM json_array_elements_text(value -> 'values') AS listed_value (word)) AS words
        ) AS allowed
      FROM json_each(declared::json)
    ) AS variable;
    IF it.dialect <> 'gdl' OR declared IS DISTINCT FROM written OR is_sound IS DISTINCT FROM true THEN
      RETURN 'its state variables are not as this program writes them';
    END IF;
  END IF;
  IF it.dialect = 'gdl' AND EXISTS (SELECT FROM (
        SELECT variable, guard.value AS word
        FROM revision_piece AS entry JOIN guard ON guard.piece_id = entry.piece_id WHERE entry.revision_id = $1
        UNION SELECT variable, state_effect.value
        FROM revision_piece AS entry JOIN state_effect ON state_effect.piece_id = entry.piece_id
        WHERE entry.revision_id = $1
      ) AS named WHERE NOT EXISTS (
        SELECT FROM json_array_elements_text(declared::json -> named.variable -> 'values') AS known (word)
        WHERE known.word = named.word)) THEN
    RETURN 'its pieces name a state that it does not declare';
  END IF;
  SELECT string_agg(to_json(piece.digest)::text, ',' ORDER BY ordinal) INTO listed
  FROM revision_piece AS entry JOIN piece ON piece.id = entry.piece_id WHERE entry.revision_id = $1;
  written := '[' || to_json(it.dialect)::text || ','
    || to_json((SELECT digest FROM board WHERE id = it.board_id))::text || ',{' || coalesce(envelope, '') || '},['
    || coalesce(listed, '') || ']]';
  IF it.digest IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex') THEN
    RETURN 'its pieces and envelope do not give its digest';
  END IF;
  written := '[' || coalesce(to_json(parent.lineage)::text, 'null') || ','
    || coalesce(to_json(merged.lineage)::text, 'null') || ',' || to_json(it.digest)::text || ','
    || coalesce(to_json(it.author)::text, 'null') || ',' || coalesce(to_json(it.message)::text, 'null') || ',"'
    || to_char(it.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00"]';
  IF it.lineage IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex') THEN
    RETURN 'its content, author, message, time and parents do not give its lineage';
  END IF;
  RETURN NULL;
END
""".replace("{clocks_differ}", CLOCKS_DIFFER).replace("{fields}", _FIELDS),
    arguments="bigint",
    returns="text",
)


def _word(name: str) -> str:
    """Of a row of the table of masks, the word of this mask that has the number `word`."""
    return f"CASE word {' '.join(f'WHEN {word} THEN {name}_{word}' for word in range(t.MASK_WORDS))} END"


_WORDS = ", ".join(f"{_word(name)} AS {name}" for name in t.MASKS)
_MASKS = ", ".join(f"{name}_{word}" for word in range(t.MASK_WORDS) for name in t.MASKS)

# What `store.masks` derives. Possibilities that make one row are looked for from the first on, so whether a row is of
# two is decided by its first one.
_MASK_FAULT = Function(
    "ggn_fault_of_mask",
    f"""
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
        AND num_nonnulls({_MASKS}) <> {len(t.MASKS)} * it.words)
      OR (SELECT min(number) FROM mask WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023)
        IS DISTINCT FROM (CASE WHEN it.words > 0 AND size > 0 THEN 0 END) THEN
    RETURN 'its masks are not those of its rows';
  END IF;
  IF EXISTS (
    WITH word AS MATERIALIZED (
      SELECT generate_series(0, it.words - 1) AS word
    ), held AS MATERIALIZED (
      SELECT variant, square / 64 AS word, 1::bigint << (square % 64) AS bit, polarity = 'must' AS must,
        state = 'empty' AS empty, state = 'enemy' AS enemy, (state ~ '^[A-Z]') = (it.side = 'first') AS own
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
      SELECT start - $1 * 1024 AS source, number, word, exact, {_WORDS}
      FROM mask CROSS JOIN word WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023
    )
    SELECT FROM (
        SELECT number, lead(number, 1, size::int) OVER (ORDER BY number) - number AS length
        FROM mask WHERE start BETWEEN $1 * 1024 AND $1 * 1024 + 1023
      ) AS listed LEFT JOIN pair USING (number)
    WHERE length <> CASE WHEN pair.number IS NULL THEN 1 ELSE 2 END
    UNION ALL
    SELECT FROM (SELECT source, number, word, exact, {", ".join(t.MASKS)} FROM stored
      EXCEPT SELECT source, number, word, exact, {", ".join(t.MASKS)} FROM expected) AS unexpected
  ) THEN
    RETURN 'its masks are not those of its rows';
  END IF;
  RETURN NULL;
END
""",
    arguments="bigint",
    returns="text",
    settings=_MANY_ROWS,
)

_KINDS = ("board", "ruleset", "piece", "mask", "revision")

# Runs as the owner: who may only insert could not take the note away.
_CHECK = Function(
    "ggn_check",
    f"""
DECLARE
  fault text;
BEGIN
  IF NOT EXISTS (SELECT FROM {UNCHECKED} WHERE kind = NEW.kind AND id = NEW.id) THEN
    RETURN NULL;
  END IF;
  CASE NEW.kind
    {"".join(f"WHEN '{kind}' THEN fault := ggn_fault_of_{kind}(NEW.id); " for kind in _KINDS)}
  END CASE;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION 'ggn_store: a % would not be sound: %', NEW.kind, fault
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  DELETE FROM {UNCHECKED} WHERE kind = NEW.kind AND id = NEW.id;
  RETURN NULL;
END
""",
    is_definer=True,
)

# A tag's moves and a ruleset's states are numbered from 1; who may write them is trusted with the rest.
_NEXT = Function(
    "ggn_number_next",
    """
DECLARE
  is_next boolean;
BEGIN
  IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN NULL;
  END IF;
  IF TG_TABLE_NAME = 'tag' THEN
    is_next := NEW.number = 1 OR EXISTS (SELECT FROM tag
      WHERE ruleset_id = NEW.ruleset_id AND name = NEW.name AND number = NEW.number - 1);
    IF NEW.revision_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM revision WHERE id = NEW.revision_id AND ruleset_id = NEW.ruleset_id) THEN
      RAISE EXCEPTION 'ggn_store: a tag points to a revision of its own ruleset'
        USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  ELSE
    is_next := NEW.number = 1 OR EXISTS (SELECT FROM ruleset_state
      WHERE ruleset_id = NEW.ruleset_id AND number = NEW.number - 1);
  END IF;
  IF NOT is_next OR NEW.number < 1 OR NEW.created_at > clock_timestamp() + interval '{clocks_differ}' THEN
    RAISE EXCEPTION 'ggn_store: what is written here comes after what was written last, and not in the future'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END
""".replace("{clocks_differ}", CLOCKS_DIFFER),
)

_MAY_REBUILD = "NOT has_table_privilege(current_user, TG_RELID, 'DELETE') AND "

_KEYS = {"board": "board_id", "piece": "piece_id", "mask": "start / 1024"}

FUNCTIONS: tuple[Function, ...] = (
    _IS_OURS,
    _BOARD_FAULT,
    _RULESET_FAULT,
    _PIECE_FAULT,
    _MASK_FAULT,
    _REVISION_FAULT,
    _CHECK,
    _NEXT,
    *(Function(f"ggn_note_{kind}", _noting(kind)) for kind in ("board", "ruleset", "revision")),
    Function("ggn_note_piece", _noting("piece", "mask")),
    Function("ggn_note_mask", _noting("mask")),
    *(Function(f"ggn_note_rows_of_{kind}", _noting(kind, key=key)) for kind, key in _KEYS.items()),
    Function("ggn_seal_board", _sealing("board", _KEYS["board"])),
    Function("ggn_seal_revision", _sealing("revision", "revision_id")),
    Function("ggn_seal_piece", _sealing("piece", _KEYS["piece"])),
    Function("ggn_seal_mask", _sealing("piece", _KEYS["mask"], "mask", unless=_MAY_REBUILD)),
)

# Table -> the function that is run once for each statement that adds rows to it.
SEALED = {
    "board": "ggn_note_board",
    "square": "ggn_seal_board",
    "ruleset": "ggn_note_ruleset",
    "revision": "ggn_note_revision",
    "revision_merge": "ggn_seal_revision",
    "revision_piece": "ggn_seal_revision",
    "piece": "ggn_note_piece",
    **{table.name: "ggn_seal_piece" for table in t.PIECE_TABLES},
    "mask": "ggn_seal_mask",
}
# The same for those from which an admin removes rows, all of a piece or none, and whose masks he has made again.
EMPTIED = {
    "square": "ggn_note_rows_of_board",
    **{table.name: "ggn_note_rows_of_piece" for table in t.PIECE_TABLES},
    "mask": "ggn_note_rows_of_mask",
}
NUMBERED = ("tag", "ruleset_state")


def triggers() -> dict[str, str]:
    """The table of each trigger, by the trigger's name."""
    kinds = {"sealed": SEALED, "emptied": EMPTIED, "next": NUMBERED, "changed": ("piece",), "checked": (UNCHECKED,)}
    return {f"{table}_{kind}": table for kind, tables in kinds.items() for table in tables}


def script(schema: str) -> str:
    """The statements that make the guards, or bring them to this program's version; run as the tables' owner."""
    parts = [
        f"CREATE UNLOGGED TABLE IF NOT EXISTS {UNCHECKED} (kind text NOT NULL, id bigint NOT NULL);",
        f"CREATE INDEX IF NOT EXISTS ix_{UNCHECKED} ON {UNCHECKED} (kind, id);",
    ]
    for each in FUNCTIONS:
        parts.append(
            f"CREATE OR REPLACE FUNCTION {each.signature} RETURNS {each.returns} LANGUAGE plpgsql "
            f"SECURITY {'DEFINER' if each.is_definer else 'INVOKER'}\n"
            f"SET search_path = pg_catalog, {schema}, pg_temp "
            + "".join(f"SET {setting} " for setting in each.settings)
            + f"AS $ggn${each.body}$ggn$;"
        )
    for table, function in SEALED.items():
        parts.append(
            f'CREATE OR REPLACE TRIGGER {table}_sealed AFTER INSERT ON "{table}"\n'
            f"REFERENCING NEW TABLE AS touched_rows FOR EACH STATEMENT EXECUTE FUNCTION {function}();"
        )
    for table, function in EMPTIED.items():
        parts.append(
            f'CREATE OR REPLACE TRIGGER {table}_emptied AFTER DELETE ON "{table}"\n'
            f"REFERENCING OLD TABLE AS touched_rows FOR EACH STATEMENT EXECUTE FUNCTION {function}();"
        )
    parts.append(
        "CREATE OR REPLACE TRIGGER piece_changed AFTER UPDATE ON piece REFERENCING NEW TABLE AS touched_rows\n"
        "FOR EACH STATEMENT EXECUTE FUNCTION ggn_note_mask();"
    )
    for table in NUMBERED:
        parts.append(
            f"CREATE OR REPLACE TRIGGER {table}_next AFTER INSERT ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION ggn_number_next();"
        )
    parts.append(
        f"DROP TRIGGER IF EXISTS {UNCHECKED}_checked ON {UNCHECKED};\n"
        f"CREATE CONSTRAINT TRIGGER {UNCHECKED}_checked AFTER INSERT ON {UNCHECKED} DEFERRABLE INITIALLY DEFERRED\n"
        "FOR EACH ROW EXECUTE FUNCTION ggn_check();"
    )
    return "\n\n".join(parts)
