"""Seals: only what the program could have written becomes a proposal, a verdict, a policy, a tag or a state."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_MOST_PIECES, _MOST_REVIEWS, _MOST_POSITIONS = 100_000, 100, 1_000_000
_LONGEST_NAME, _LONGEST_AUTHOR, _LONGEST_MESSAGE = 200, 1_000, 1_000_000
_FIELDS = "'schema', 'title', 'source', 'start', 'board', 'definition', 'variables'"
_LOWER, _DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
_LETTERS = _LOWER + _LOWER.upper()

_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_RETIRED = "ggn_store: the ruleset is retired and takes no revisions"
_REVIEWED = "ggn_store: this ruleset takes only revisions that were proposed and approved (`ggn-store propose`)"
_APPROVED = "ggn_store: a revision of this ruleset lists the pieces that were approved, and no others"
_NUMBERED = "ggn_store: the verdicts of a proposal are numbered without gaps"
_CLOSED = "ggn_store: the proposal was merged, rejected or withdrawn already"
_OWN = "ggn_store: nobody approves a proposal of their own"
_FOREIGN = "ggn_store: a proposal is withdrawn by whoever made it; others reject it"
_NOT_MERGED = "ggn_store: a proposal is merged by a revision of its content that follows its base"
_TOO_FEW = "ggn_store: a proposal is merged once enough others have approved of its digest"
_READ = "ggn_store: an approval names the digest of its proposal, and no other verdict names one"
_INCOMPLETE = "ggn_store: a proposal is approved and merged only when all of its pieces are there"
_NEXT = "ggn_store: what is written here comes after what was written last, and is numbered without gaps"
_NOW = "ggn_store: what is written here is written now, by a clock that is right within a day"
_PAST = "ggn_store: what is written here was not written in the future, and not before 1970"
_SIGNED = (
    f"ggn_store: author and message are texts of up to {_LONGEST_AUTHOR} and {_LONGEST_MESSAGE} characters, without NUL"
)
_PLACED = "ggn_store: a proposal is for a ruleset and a board of this store, and based on a revision of that ruleset"
_DIGEST = "ggn_store: the digest of a proposal is a SHA-256 in hexadecimal"
_ENVELOPE = "ggn_store: the envelope of a proposal is as this program writes it"
_SIZED = f"ggn_store: a proposal lists 1 to {_MOST_PIECES} pieces"
_ACCEPTED = "ggn_store: the accepted changes of a proposal are a JSON list of texts"
_FITTING = "ggn_store: a proposal lists pieces of its dialect and board, and each identifier once"
_SAID = "ggn_store: a proposal gets no pieces once something was said of it"
_NAMESPACE = "ggn_store: a policy is of the whole store, a namespace or a ruleset"
_WRITTEN = "ggn_store: the rules of a policy are a JSON object as this program writes it"
_POSITIONS = "ggn_store: the positions of a policy are those that its rules name, a JSON object each"
_TAG = "ggn_store: the name of a tag begins with a letter and goes on with letters, digits and . _ -"
_POINTING = "ggn_store: a tag points to a revision of its own ruleset"
_SUCCESSOR = "ggn_store: a state is of a ruleset, and another ruleset may be used instead of one that is not active"

# What a number counts within.
_KEYS = {"policy": "namespace", "proposal": "ruleset_id", "tag": "ruleset_id name", "ruleset_state": "ruleset_id"}
# What identifies a row, for SQLite, where INSERT OR REPLACE would put another one in its place.
_UNIQUE = {
    "policy": (("namespace", "number"),),
    "proposal": (("id",), ("ruleset_id", "number")),
    "proposal_piece": (("proposal_id", "ordinal"), ("proposal_id", "piece_id")),
    "verdict": (("proposal_id", "ordinal"),),
    "tag": (("ruleset_id", "name", "number"),),
    "ruleset_state": (("ruleset_id", "number"),),
}

# Table, name, when a row is taken, and what is said otherwise.
_Check = tuple[str, str, str, str]


class _Sqlite:
    """The conditions in SQLite's words; a column may hold a value of any type, and JSON is checked before use."""

    same = "IS"
    person = "author"
    find = "instr"
    review = "coalesce(json_extract(({rules}), '$.review'), 0)"

    @staticmethod
    def is_integer(value: str) -> str:
        return f"typeof({value}) = 'integer'"

    @staticmethod
    def is_text(value: str) -> str:
        return f"(typeof({value}) = 'text' AND instr({value}, char(0)) = 0)"

    @staticmethod
    def _is_time(value: str) -> str:
        digits = {count: "[0-9]" * count for count in (2, 4, 6)}
        seconds = "-".join((digits[4], digits[2], digits[2])) + " " + ":".join([digits[2]] * 3)
        return (
            f"typeof({value}) = 'text' AND ({value} GLOB '{seconds}' OR {value} GLOB '{seconds}.{digits[6]}') "
            # A day that the month does not have would be taken for one of the next month.
            f"AND date(substr({value}, 1, 10), '+0 days') = substr({value}, 1, 10) AND substr({value}, 12, 2) < '24'"
        )

    @classmethod
    def is_now(cls, value: str) -> str:
        return f"({cls._is_time(value)} AND abs(julianday({value}) - julianday('now')) <= 1)"

    @classmethod
    def is_past(cls, value: str) -> str:
        return f"({cls._is_time(value)} AND {value} >= '1970' AND julianday({value}) <= julianday('now') + 1)"

    @staticmethod
    def is_envelope(value: str) -> str:
        return (
            f"CASE WHEN typeof({value}) = 'text' AND json_valid({value}) AND json_type({value}) = 'object' "
            f"THEN NOT EXISTS (SELECT 1 FROM json_each({value}) WHERE type <> 'text' OR key NOT IN ({_FIELDS})) "
            f"AND NOT EXISTS (SELECT 1 FROM json_each({value}) AS a, json_each({value}) AS b "
            "WHERE a.id < b.id AND a.key >= b.key) "
            f"AND {value} = (SELECT '{{' || coalesce(group_concat(json_quote(key) || ': ' || json_quote(value), ', '), "
            f"'') || '}}' FROM json_each({value})) ELSE 0 END"
        )

    @staticmethod
    def envelope_board(value: str) -> str:
        return f"CASE WHEN json_valid({value}) THEN json_extract({value}, '$.board') END"

    @staticmethod
    def is_list(value: str) -> str:
        return (
            f"CASE WHEN typeof({value}) = 'text' AND json_valid({value}) AND json_type({value}) = 'array' "
            f"THEN NOT EXISTS (SELECT 1 FROM json_each({value}) WHERE type <> 'text') "
            f"AND {value} = (SELECT '[' || group_concat(json_quote(value), ', ') || ']' FROM json_each({value})) "
            "ELSE 0 END"
        )

    @staticmethod
    def are_rules(value: str) -> str:
        name, positions = (f"json_extract({value}, '$.compatible.{each}')" for each in ("name", "positions"))
        compatible = (
            f"""SELECT '"compatible": {{"name": ' || json_quote({name}) || ', "positions": ' || {positions} || '}}' """
            f"AS part WHERE json_type({value}, '$.compatible.name') = 'text' AND {name} <> '' "
            f"AND json_type({value}, '$.compatible.positions') = 'integer'"
        )
        codes = f"json_each({value}, '$.lint')"
        lint = (
            f"""SELECT '"lint": [' || (SELECT group_concat(json_quote(value), ', ') FROM {codes}) || ']' """
            f"WHERE json_type({value}, '$.lint') = 'array' AND NOT EXISTS "
            f"(SELECT 1 FROM {codes} WHERE type <> 'text' OR value = '' OR ltrim(value, '{_LOWER}-') <> '')"
        )
        number = f"json_extract({value}, '$.review')"
        review = (
            f"""SELECT '"review": ' || {number} WHERE json_type({value}, '$.review') = 'integer' """
            f"AND {number} BETWEEN 1 AND {_MOST_REVIEWS}"
        )
        parts = " UNION ALL ".join((compatible, lint, review))
        return (
            f"CASE WHEN typeof({value}) = 'text' AND json_valid({value}) AND json_type({value}) = 'object' "
            f"THEN {value} = (SELECT '{{' || coalesce(group_concat(part, ', '), '') || '}}' FROM ({parts})) ELSE 0 END"
        )

    @staticmethod
    def are_positions(rules: str, positions: str) -> str:
        listed = f"'[' || replace(rtrim({positions}, char(10)), char(10), ',') || ']'"
        return (
            f"CASE WHEN {rules} IS NULL OR NOT json_valid({rules}) THEN {positions} IS NULL "
            f"WHEN json_type({rules}, '$.compatible') IS NULL THEN {positions} IS NULL "
            f"WHEN typeof({positions}) <> 'text' OR NOT json_valid({listed}) THEN 0 "
            f"ELSE json_extract({rules}, '$.compatible.positions') BETWEEN 1 AND {_MOST_POSITIONS} "
            f"AND json_extract({rules}, '$.compatible.positions') = json_array_length({listed}) "
            f"AND length({positions}) - length(replace({positions}, char(10), '')) = json_array_length({listed}) "
            f"AND NOT EXISTS (SELECT 1 FROM json_each({listed}) WHERE type <> 'object' "
            "OR coalesce(json_type(value, '$.board'), '') <> 'object' "
            "OR coalesce(json_extract(value, '$.side'), '') NOT IN ('first', 'second')) END"
        )


class _Postgres:
    """The conditions in Postgres's words; what is no JSON raises an error, which is refused like what is false."""

    same = "IS NOT DISTINCT FROM"
    person = "role"
    find = "strpos"

    @staticmethod
    def is_integer(_: str) -> str:
        return "true"

    is_text = is_integer

    @staticmethod
    def is_now(value: str) -> str:
        return f"{value} BETWEEN clock_timestamp() - interval '1 day' AND clock_timestamp() + interval '1 day'"

    @staticmethod
    def is_past(value: str) -> str:
        return f"{value} BETWEEN timestamptz 'epoch' AND clock_timestamp() + interval '1 day'"

    @staticmethod
    def is_envelope(value: str) -> str:
        return (
            f"(NOT EXISTS (SELECT FROM json_each({value}::json) AS e (key, value) "
            f"WHERE json_typeof(e.value) <> 'string' OR e.key NOT IN ({_FIELDS})) "
            f"AND (SELECT count(*) = count(DISTINCT key) FROM json_object_keys({value}::json) AS e (key)) "
            f"AND {value} = (SELECT '{{' || "
            "coalesce(string_agg(to_json(e.key)::text || ': ' || to_json(e.value)::text, "
            f"', ' ORDER BY e.key COLLATE \"C\"), '') || '}}' FROM json_each_text({value}::json) AS e (key, value)))"
        )

    @staticmethod
    def envelope_board(value: str) -> str:
        return f"{value}::json ->> 'board'"

    @staticmethod
    def is_list(value: str) -> str:
        return (
            f"(NOT EXISTS (SELECT FROM json_array_elements({value}::json) AS e (value) "
            "WHERE json_typeof(e.value) <> 'string') "
            f"AND {value} = (SELECT '[' || string_agg(to_json(e.value)::text, ', ' ORDER BY e.place) || ']' "
            f"FROM json_array_elements_text({value}::json) WITH ORDINALITY AS e (value, place)))"
        )

    @staticmethod
    def are_rules(value: str) -> str:
        kept = f"({value}::json -> 'compatible')"
        return (
            f"(json_typeof({value}::json) = 'object' AND {value} = '{{' || concat_ws(', ', "
            f"CASE WHEN json_typeof({kept} -> 'name') = 'string' AND {kept} ->> 'name' <> '' "
            f"AND json_typeof({kept} -> 'positions') = 'number' THEN '\"compatible\": {{\"name\": ' "
            f"|| to_json({kept} ->> 'name')::text || ', \"positions\": ' || ({kept} ->> 'positions')::integer "
            "|| '}' END, "
            f"CASE WHEN json_typeof({value}::json -> 'lint') = 'array' THEN '\"lint\": [' || ("
            "SELECT string_agg(to_json(e.value)::text, ', ' ORDER BY e.place) "
            f"FROM json_array_elements_text({value}::json -> 'lint') WITH ORDINALITY AS e (value, place) "
            f"WHERE e.value <> '' AND ltrim(e.value, '{_LOWER}-') = '') || ']' END, "
            f"CASE WHEN json_typeof({value}::json -> 'review') = 'number' "
            f"AND ({value}::json ->> 'review')::integer BETWEEN 1 AND {_MOST_REVIEWS} "
            f"THEN '\"review\": ' || ({value}::json ->> 'review')::integer END) || '}}')"
        )

    @staticmethod
    def are_positions(rules: str, positions: str) -> str:
        listed = f"('[' || replace(rtrim({positions}, chr(10)), chr(10), ',') || ']')::json"
        count = f"({rules}::json -> 'compatible' ->> 'positions')::integer"
        return (
            f"CASE WHEN coalesce({rules}::json -> 'compatible' IS NULL, true) THEN {positions} IS NULL "
            f"ELSE {positions} IS NOT NULL AND {count} BETWEEN 1 AND {_MOST_POSITIONS} "
            f"AND {count} = json_array_length({listed}) "
            f"AND length({positions}) - length(replace({positions}, chr(10), '')) = {count} "
            f"AND NOT EXISTS (SELECT FROM json_array_elements({listed}) AS e (value) "
            "WHERE json_typeof(e.value) <> 'object' "
            "OR coalesce(json_typeof(e.value -> 'board'), '') <> 'object' "
            "OR coalesce(e.value ->> 'side', '') NOT IN ('first', 'second')) END"
        )


_Words = type[_Sqlite] | type[_Postgres]


def _newest(table: str, of: str) -> str:
    """The number of the row that counts: the last before a gap, so that no row far ahead keeps others from counting."""
    same = " AND ".join(f"a.{key} = {of}.{key}" for key in _KEYS[table].split())
    follows = " AND ".join(f"b.{key} = a.{key}" for key in _KEYS[table].split())
    return (
        f"coalesce((SELECT min(a.number) FROM {table} AS a WHERE {same} AND a.number >= 1 "
        f"AND NOT EXISTS (SELECT 1 FROM {table} AS b WHERE {follows} AND b.number = CAST(a.number AS bigint) + 1)), 0)"
    )


def _is_named(words: _Words, value: str) -> str:
    parts = " AND ".join(f"{words.find}('/' || {value} || '/', '/{mark}') = 0" for mark in "._+-/")
    return (
        f"({words.is_text(value)} AND length({value}) BETWEEN 1 AND {_LONGEST_NAME} "
        f"AND ltrim({value}, '{_LETTERS}{_DIGITS}._+-/') = '' AND {parts})"
    )


def _checks(words: _Words) -> Iterator[_Check]:
    """What is checked of each row when it is inserted, whoever does."""
    for table in _KEYS:
        # One that another has got ahead of is not refused: it meets the other's number.
        fits = f"{words.is_integer('NEW.number')} AND NEW.number BETWEEN 1 AND 1 + {_newest(table, 'NEW')}"
        yield table, "numbered", fits, _NEXT
    for table in (*_KEYS, "verdict"):
        kind, message = (words.is_past, _PAST) if table == "tag" else (words.is_now, _NOW)
        yield table, "timed", kind("NEW.created_at"), message
        signed = (
            f"({value} IS NULL OR {words.is_text(value)} AND length({value}) <= {most})"
            for value, most in (("NEW.author", _LONGEST_AUTHOR), ("NEW.message", _LONGEST_MESSAGE))
        )
        yield table, "signed", " AND ".join(signed), _SIGNED

    yield "policy", "spaced", f"NEW.namespace = '' OR {_is_named(words, 'NEW.namespace')}", _NAMESPACE
    yield "policy", "written", f"NEW.rules IS NULL OR {words.are_rules('NEW.rules')}", _WRITTEN
    yield "policy", "positioned", words.are_positions("NEW.rules", "NEW.positions"), _POSITIONS

    of_ruleset = "EXISTS (SELECT 1 FROM revision WHERE id = NEW.{0} AND ruleset_id = NEW.ruleset_id)"
    placed = (
        "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id) AND EXISTS (SELECT 1 FROM board WHERE id = "
        f"NEW.board_id) AND (NEW.base_id IS NULL OR {of_ruleset.format('base_id')})"
    )
    yield "proposal", "placed", placed, _PLACED
    hexadecimal = f"length(NEW.digest) = 64 AND ltrim(NEW.digest, '{_DIGITS}abcdef') = ''"
    yield "proposal", "digested", f"{words.is_text('NEW.digest')} AND {hexadecimal}", _DIGEST
    shape = f"coalesce({words.envelope_board('NEW.envelope')} = (SELECT shape FROM board WHERE id = NEW.board_id), "
    shape += f"{words.envelope_board('NEW.envelope')} IS NULL)"
    yield "proposal", "enveloped", f"{words.is_envelope('NEW.envelope')} AND {shape}", _ENVELOPE
    yield "proposal", "sized", f"{words.is_integer('NEW.pieces')} AND NEW.pieces BETWEEN 1 AND {_MOST_PIECES}", _SIZED
    yield "proposal", "accepting", f"NEW.accepted IS NULL OR {words.is_list('NEW.accepted')}", _ACCEPTED

    fitting = (
        f"{words.is_integer('NEW.ordinal')} AND EXISTS (SELECT 1 FROM piece AS q JOIN proposal AS p "
        "ON p.dialect = q.dialect AND p.board_id = q.board_id WHERE q.id = NEW.piece_id AND p.id = NEW.proposal_id) "
        "AND NOT EXISTS (SELECT 1 FROM proposal_piece AS l JOIN piece AS q ON q.id = l.piece_id "
        "WHERE l.proposal_id = NEW.proposal_id AND l.piece_id <> NEW.piece_id "
        "AND q.identifier = (SELECT identifier FROM piece WHERE id = NEW.piece_id))"
    )
    yield "proposal_piece", "fitting", fitting, _FITTING
    nothing = "NOT EXISTS (SELECT 1 FROM verdict WHERE proposal_id = NEW.proposal_id)"
    yield "proposal_piece", "said", nothing, _SAID

    begins = f"ltrim(substr(NEW.name, 1, 1), '{_LETTERS}') = '' AND ltrim(NEW.name, '{_LETTERS}{_DIGITS}._-') = ''"
    called = f"{words.is_text('NEW.name')} AND length(NEW.name) BETWEEN 1 AND {_LONGEST_NAME} AND {begins}"
    yield "tag", "called", called, _TAG
    pointing = "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id) AND (NEW.revision_id IS NULL OR {0})"
    yield "tag", "pointing", pointing.format(of_ruleset.format("revision_id")), _POINTING
    succeeded = (
        "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id) AND (NEW.successor IS NULL OR NEW.state <> 'active' "
        "AND EXISTS (SELECT 1 FROM ruleset WHERE name = NEW.successor AND id <> NEW.ruleset_id))"
    )
    yield "ruleset_state", "succeeded", succeeded, _SUCCESSOR


_VERDICTS_BEFORE = "(SELECT count(*) FROM verdict WHERE proposal_id = NEW.proposal_id)"
_IS_COMPLETE = "p.pieces = (SELECT count(*) FROM proposal_piece AS l WHERE l.proposal_id = p.id)"


def _approvals(words: _Words, is_read: bool) -> str:
    """How many others have approved of the proposal p; with `is_read`, of the digest that it has."""
    of_digest = "AND v.digest = p.digest " if is_read else ""
    return (
        f"(SELECT count(DISTINCT v.{words.person}) FROM verdict AS v WHERE v.proposal_id = p.id "
        f"AND v.verdict = 'approved' {of_digest}AND v.{words.person} <> p.{words.person})"
    )


def _carried_out(words: _Words, is_read: bool, needed: str) -> str:
    """A proposal that the revision NEW carries out."""
    complete = f"AND {_IS_COMPLETE} " if is_read else ""
    return (
        "SELECT 1 FROM proposal AS p WHERE p.ruleset_id = NEW.ruleset_id AND p.digest = NEW.digest "
        "AND p.dialect = NEW.dialect AND p.board_id = NEW.board_id AND p.envelope = NEW.envelope "
        f"AND p.author {words.same} NEW.author AND p.message {words.same} NEW.message "
        f"AND p.base_id {words.same} NEW.parent_id AND p.base_id {words.same} "
        "(SELECT id FROM revision WHERE ruleset_id = NEW.ruleset_id ORDER BY number DESC LIMIT 1) "
        "AND NOT EXISTS (SELECT 1 FROM verdict AS v WHERE v.proposal_id = p.id AND v.verdict <> 'approved') "
        f"{complete}AND {needed} <= {_approvals(words, is_read)}"
    )


def _piece_approved(words: _Words, is_read: bool, needed: str) -> str:
    """That the piece NEW is where a proposal with the content of its revision lists it."""
    return (
        "SELECT 1 FROM revision AS r JOIN proposal AS p ON p.ruleset_id = r.ruleset_id AND p.digest = r.digest "
        f"AND p.base_id {words.same} r.parent_id JOIN proposal_piece AS l ON l.proposal_id = p.id "
        "WHERE r.id = NEW.revision_id AND l.ordinal = NEW.ordinal AND l.piece_id = NEW.piece_id "
        f"AND {needed} <= {_approvals(words, is_read)}"
    )


def _rules(name: str, is_read: bool) -> str:
    """The rules that count for the ruleset of a name: of the longest namespace that covers it."""
    newest = (
        _newest("policy", "p") if is_read else "(SELECT max(number) FROM policy AS q WHERE q.namespace = p.namespace)"
    )
    return (
        f"SELECT rules FROM policy AS p WHERE rules IS NOT NULL AND number = {newest} "
        f"AND (namespace = '' OR {name} = namespace OR substr({name}, 1, length(namespace) + 1) = namespace || '/') "
        "ORDER BY length(namespace) DESC LIMIT 1"
    )


def _verdicts(words: _Words, is_read: bool, review: str) -> Iterator[_Check]:
    """When a verdict is taken; {review} says how many must approve of the proposal p."""
    numbered = f"{words.is_integer('NEW.ordinal')} AND NEW.ordinal BETWEEN 1 AND 1 + {_VERDICTS_BEFORE}"
    yield "verdict", "numbered", numbered, _NUMBERED
    of_proposal = "SELECT 1 FROM proposal AS p WHERE p.id = NEW.proposal_id"
    ended = "EXISTS (SELECT 1 FROM verdict WHERE proposal_id = NEW.proposal_id AND verdict <> 'approved')"
    yield "verdict", "closed", f"NOT (NEW.ordinal = 1 + {_VERDICTS_BEFORE} AND {ended})", _CLOSED
    own = f"NEW.verdict = 'approved' AND EXISTS ({of_proposal} AND p.{words.person} = NEW.{words.person})"
    yield "verdict", "own", f"NOT ({own})", _OWN
    foreign = f"NEW.verdict = 'withdrawn' AND EXISTS ({of_proposal} AND p.{words.person} <> NEW.{words.person})"
    yield "verdict", "foreign", f"NOT ({foreign})", _FOREIGN
    merges = (
        "SELECT 1 FROM proposal AS p JOIN revision AS r ON r.ruleset_id = p.ruleset_id AND r.digest = p.digest "
        f"AND r.parent_id {words.same} p.base_id WHERE p.id = NEW.proposal_id AND r.id = NEW.revision_id"
    )
    yield "verdict", "merged", f"NEW.verdict <> 'merged' OR EXISTS ({merges})", _NOT_MERGED
    if is_read:
        read = f"CASE NEW.verdict WHEN 'approved' THEN EXISTS ({of_proposal} AND p.digest = NEW.digest) "
        yield "verdict", "read", f"{read}ELSE NEW.digest IS NULL END", _READ
        complete = f"NEW.verdict IN ('rejected', 'withdrawn') OR EXISTS ({of_proposal} AND {_IS_COMPLETE})"
        yield "verdict", "complete", complete, _INCOMPLETE
        approvals = _approvals(words, is_read)
        enough = f"{of_proposal} AND {approvals} >= 1 AND {approvals} >= {review}"
        yield "verdict", "enough", f"NEW.verdict <> 'merged' OR EXISTS ({enough})", _TOO_FEW


def _retired(is_read: bool) -> str:
    """That the ruleset of the revision NEW takes none."""
    newest = f"AND number = {_newest('ruleset_state', 'NEW')}" if is_read else "ORDER BY number DESC LIMIT 1"
    return f"'retired' = (SELECT state FROM ruleset_state WHERE ruleset_id = NEW.ruleset_id {newest})"


# What the audit tells of a verdict.
_ACTION = (
    "CASE NEW.verdict WHEN 'approved' THEN 'approve' WHEN 'rejected' THEN 'reject' "
    "WHEN 'withdrawn' THEN 'withdraw' ELSE 'merge' END"
)
_SUBJECT = "(SELECT r.name FROM ruleset AS r JOIN proposal AS p ON p.ruleset_id = r.id WHERE p.id = NEW.proposal_id)"


def _told(is_read: bool) -> str:
    told = {
        "proposal": "(SELECT number FROM proposal WHERE id = NEW.proposal_id)",
        "revision": "(SELECT number FROM revision WHERE id = NEW.revision_id)",
        **({"digest": "NEW.digest"} if is_read else {}),
        "author": "NEW.author",
        "message": "NEW.message",
    }
    return ", ".join(f"'{name}', {value}" for name, value in told.items())


_OF_REVISION = "(SELECT name FROM ruleset WHERE id = NEW.ruleset_id)"
_OF_PIECE = "(SELECT s.name FROM revision AS r JOIN ruleset AS s ON s.id = r.ruleset_id WHERE r.id = NEW.revision_id)"
_OF_PROPOSAL = "(SELECT name FROM ruleset WHERE id = p.ruleset_id)"


def upgrade() -> None:
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("verdict", sa.Column("digest", label, nullable=True))
    is_postgres = op.get_bind().dialect.name == "postgresql"
    if is_postgres:
        op.execute("ALTER TABLE verdict DISABLE TRIGGER verdict_unchanged")
    else:
        op.execute("DROP TRIGGER verdict_unchanged")
    # Whoever approved until now was shown the proposal's.
    op.execute(
        "UPDATE verdict SET digest = (SELECT p.digest FROM proposal AS p WHERE p.id = verdict.proposal_id) "
        "WHERE verdict = 'approved'"
    )
    if is_postgres:
        op.execute("ALTER TABLE verdict ENABLE TRIGGER verdict_unchanged")
        _seal_postgres()
    else:
        op.execute(_raising("verdict_unchanged", "BEFORE UPDATE ON verdict", _NEVER_CHANGED))
        _seal_sqlite()


# --- SQLite ---


def _raising(name: str, event: str, message: str, when: str = "") -> str:
    condition = f" WHEN {when}" if when else ""
    return f"CREATE TRIGGER {name} {event}{condition} BEGIN SELECT RAISE(ABORT, '{message}'); END"


def _unless(name: str, table: str, condition: str, message: str) -> None:
    op.execute(_raising(name, f"BEFORE INSERT ON {table}", message, f"({condition}) IS NOT TRUE"))


def _judge_sqlite(is_read: bool) -> None:
    """Make the triggers that hold revisions and verdicts to what was approved."""
    for name, table, ruleset, approved, message in (
        ("revision_reviewed", "revision", _OF_REVISION, _carried_out, _REVIEWED),
        ("revision_piece_reviewed", "revision_piece", _OF_PIECE, _piece_approved, _APPROVED),
    ):
        review = _Sqlite.review.format(rules=_rules(ruleset, is_read))
        condition = f"{review} > 0 AND NOT EXISTS ({approved(_Sqlite, is_read, review)})"
        op.execute(_raising(name, f"BEFORE INSERT ON {table}", message, condition))
    review = _Sqlite.review.format(rules=_rules(_OF_PROPOSAL, is_read))
    # SQLite asks the newest trigger first.
    for table, name, condition, message in reversed([*_verdicts(_Sqlite, is_read, review)]):
        _unless(f"{table}_{name}", table, condition, message)
    op.execute(
        "CREATE TRIGGER verdict_audit_insert AFTER INSERT ON verdict BEGIN "
        "INSERT INTO audit (at, action, subject, detail) VALUES "
        f"(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000', {_ACTION}, {_SUBJECT}, json_object({_told(is_read)})); END"
    )
    op.execute(_raising("revision_retired", "BEFORE INSERT ON revision", _RETIRED, _retired(is_read)))


_JUDGING = ("numbered", "closed", "own", "foreign", "merged", "audit_insert")
_REPLACED = ("revision_reviewed", "revision_piece_reviewed", "revision_retired")


def _drop_sqlite(*names: str) -> None:
    for name in names:
        op.execute(f"DROP TRIGGER {name}")


def _seal_sqlite() -> None:
    _drop_sqlite(*_REPLACED, *(f"verdict_{name}" for name in _JUDGING))
    _judge_sqlite(is_read=True)
    for table, name, condition, message in _checks(_Sqlite):
        _unless(f"{table}_{name}", table, condition, message)
    for table, keys in _UNIQUE.items():
        found = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE {' AND '.join(f'{each} = NEW.{each}' for each in key)})"
            for key in keys
        )
        op.execute(_raising(f"{table}_not_replaced", f"BEFORE INSERT ON {table}", _NEVER_CHANGED, found))
    # Before a row is there SQLite says -1 for the key that it is still to get.
    op.execute(_raising("proposal_keyed", "AFTER INSERT ON proposal", _NEXT, "NEW.id < 1"))


# --- Postgres ---


def _function(name: str, body: str, declared: str = "") -> None:
    declare = f"DECLARE {declared} " if declared else ""
    op.execute(
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
        f"$$ {declare}BEGIN {body} RETURN NEW; END $$"
    )
    _pin(f"{name}()")


def _pin(function: str) -> None:
    """Have a function look tables up where they were made, whatever the caller's path."""
    op.execute(
        f"DO $$ BEGIN EXECUTE format('ALTER FUNCTION {function} SET search_path = %I, pg_temp', current_schema()); "
        "END $$"
    )


def _raise(message: str) -> str:
    return f"RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation';"


def _require(condition: str, message: str) -> str:
    checked = f"IF ({condition}) IS NOT TRUE THEN {_raise(message)} END IF;"
    if "json" not in condition:
        return checked
    return f"BEGIN {checked} EXCEPTION WHEN data_exception THEN {_raise(message)} END;"


def _judge_postgres(is_read: bool) -> None:
    """Make the functions that hold revisions and verdicts to what was approved."""
    op.execute(
        "CREATE OR REPLACE FUNCTION ggn_review(wanted text) RETURNS integer LANGUAGE sql STABLE SECURITY DEFINER AS "
        f"$$ SELECT coalesce((rules::json ->> 'review')::integer, 0) FROM ({_rules('wanted', is_read)}) AS found $$"
    )
    _pin("ggn_review(text)")
    for name, ruleset, approved, message in (
        ("ggn_require_review", _OF_REVISION, _carried_out, _REVIEWED),
        ("ggn_require_approved", _OF_PIECE, _piece_approved, _APPROVED),
    ):
        found = approved(_Postgres, is_read, "needed")
        body = f"needed := ggn_review({ruleset}); IF needed > 0 AND NOT EXISTS ({found}) THEN {_raise(message)} END IF;"
        _function(name, body, "needed integer;")
    review = f"coalesce(ggn_review({_OF_PROPOSAL}), 0)"
    verdicts = [each for each in _checks(_Postgres) if each[0] == "verdict"] if is_read else []
    checks = [*_verdicts(_Postgres, is_read, review), *verdicts]
    _function("ggn_require_verdict", " ".join(_require(condition, message) for *_, condition, message in checks))
    op.execute(
        "CREATE OR REPLACE FUNCTION ggn_verdict_audit_insert() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS "
        "$$ BEGIN INSERT INTO audit (at, role, action, subject, detail, transaction) VALUES "
        f"(clock_timestamp(), session_user, {_ACTION}, {_SUBJECT}, json_build_object({_told(is_read)})::text, "
        "pg_current_xact_id()::text::bigint); PERFORM pg_notify('ggn_store', ''); RETURN NULL; END $$"
    )
    _pin("ggn_verdict_audit_insert()")
    op.execute(
        "CREATE OR REPLACE FUNCTION ggn_refuse_retired() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF {_retired(is_read)} THEN "
        "RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation'; END IF; "
        "RETURN NEW; END $$"
    )
    _pin("ggn_refuse_retired()")


_SEALED = (*_KEYS, "proposal_piece")


def _seal_postgres() -> None:
    _judge_postgres(is_read=True)
    for table in _SEALED:
        checks = [_require(condition, message) for each, _, condition, message in _checks(_Postgres) if each == table]
        _function(f"ggn_require_{table}_written", " ".join(checks))
        # A function of a trigger is called by nobody else.
        op.execute(f"REVOKE ALL ON FUNCTION ggn_require_{table}_written() FROM PUBLIC")
        op.execute(
            f"CREATE TRIGGER {table}_written BEFORE INSERT ON {table} FOR EACH ROW "
            f"EXECUTE FUNCTION ggn_require_{table}_written()"
        )
    # What servers with roles had instead.
    op.execute("DROP FUNCTION IF EXISTS ggn_number_next() CASCADE")


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table in _SEALED:
            op.execute(f"DROP FUNCTION ggn_require_{table}_written() CASCADE")  # and with it the trigger
        _judge_postgres(is_read=False)
    else:
        _drop_sqlite("proposal_keyed", *(f"{table}_not_replaced" for table in _UNIQUE))
        _drop_sqlite(*(f"{table}_{name}" for table, name, *_ in _checks(_Sqlite)))
        _drop_sqlite(*_REPLACED, *(f"verdict_{name}" for name in (*_JUDGING, "read", "complete", "enough")))
        _judge_sqlite(is_read=False)
    op.drop_column("verdict", "digest")
