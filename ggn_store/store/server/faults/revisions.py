"""Whether a ruleset, its revisions and what is proposed for it are as this program writes them."""

from __future__ import annotations

from ggn_store.model.document import Envelope
from ggn_store.store.server.faults.function import CLOCKS_DIFFER, Function

# A ruleset begins with a revision, or with the proposal of one.
RULESET_FAULT = Function(
    "ggn_fault_of_ruleset",
    """
BEGIN
  IF EXISTS (SELECT FROM ruleset WHERE id = $1)
      AND NOT EXISTS (SELECT FROM revision WHERE ruleset_id = $1)
      AND NOT EXISTS (SELECT FROM proposal WHERE ruleset_id = $1) THEN
    RETURN 'it has no revision';
  END IF;
  IF EXISTS (SELECT FROM ruleset WHERE id = $1 AND (length(name) > 200
      OR name !~ '^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$')) THEN
    RETURN 'its name is not one of a ruleset';
  END IF;
  RETURN NULL;
END
""",
    arguments="bigint",
    returns="text",
)

_FIELDS = ", ".join(f"'{name}'" for name in Envelope.__slots__)

# What is said of the content `it`, whose pieces a table lists.
_CONTENT = """\
  IF EXISTS (SELECT FROM {list}_piece AS entry JOIN piece ON piece.id = entry.piece_id
      WHERE entry.{list}_id = $1 AND (piece.dialect <> it.dialect OR piece.board_id <> it.board_id))
      OR EXISTS (SELECT FROM {list}_piece AS entry WHERE entry.{list}_id = $1
        HAVING min(ordinal) <> 0 OR max(ordinal) <> count(*) - 1)
      OR EXISTS (SELECT FROM {list}_piece AS entry JOIN piece ON piece.id = entry.piece_id
        WHERE entry.{list}_id = $1 GROUP BY piece.identifier HAVING count(*) > 1) THEN
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
        FROM {list}_piece AS entry JOIN guard ON guard.piece_id = entry.piece_id WHERE entry.{list}_id = $1
        UNION SELECT variable, state_effect.value
        FROM {list}_piece AS entry JOIN state_effect ON state_effect.piece_id = entry.piece_id
        WHERE entry.{list}_id = $1
      ) AS named WHERE NOT EXISTS (
        SELECT FROM json_array_elements_text(declared::json -> named.variable -> 'values') AS known (word)
        WHERE known.word = named.word)) THEN
    RETURN 'its pieces name a state that it does not declare';
  END IF;
  SELECT string_agg(to_json(piece.digest)::text, ',' ORDER BY ordinal) INTO listed
  FROM {list}_piece AS entry JOIN piece ON piece.id = entry.piece_id WHERE entry.{list}_id = $1;
  written := '[' || to_json(it.dialect)::text || ','
    || to_json((SELECT digest FROM board WHERE id = it.board_id))::text || ',{' || coalesce(envelope, '') || '},['
    || coalesce(listed, '') || ']]';
  IF it.digest IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex') THEN
    RETURN 'its pieces and envelope do not give its digest';
  END IF;
"""


def _content(kind: str) -> str:
    return _CONTENT.replace("{list}", kind).replace("{fields}", _FIELDS)


# The formulas are those of `model.document.revision_digest` and `model.revision.lineage`.
REVISION_FAULT = Function(
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
{content}  written := '[' || coalesce(to_json(parent.lineage)::text, 'null') || ','
    || coalesce(to_json(merged.lineage)::text, 'null') || ',' || to_json(it.digest)::text || ','
    || coalesce(to_json(it.author)::text, 'null') || ',' || coalesce(to_json(it.message)::text, 'null') || ',"'
    || to_char(it.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00"]';
  IF it.lineage IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex') THEN
    RETURN 'its content, author, message, time and parents do not give its lineage';
  END IF;
  RETURN NULL;
END
""".replace("{clocks_differ}", CLOCKS_DIFFER).replace("{content}", _content("revision")),
    arguments="bigint",
    returns="text",
)

# A migration's triggers check the rest of a row when it is inserted, whoever does.
PROPOSAL_FAULT = Function(
    "ggn_fault_of_proposal",
    """
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
{content}  RETURN NULL;
END
""".replace("{content}", _content("proposal")),
    arguments="bigint",
    returns="text",
)
