"""What a Postgres server with roles watches over beyond rights: SQL that `roles` puts into its script.

Rights say who may insert into which table. These triggers say what may be inserted: rows only of a piece, board,
revision or proposal that the same transaction has made, and only such that every digest is the one of its rows; and
that nobody removes some rows of a piece without the rest. The owner of the tables, who could take the triggers away, is
not held up by them. What can be said of one row alone, the triggers of the migrations say, to everybody.

Each statement notes in `ggn_unchecked` what it has touched, and a deferred trigger on that table checks it before the
commit. Who asks for the check earlier (SET CONSTRAINTS) and then adds a row has it noted again.

The functions are in the files beside this one. Those of faults take an id and give a text, NULL where the rows are
sound. The words that are put into them are this program's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import get_args

from ggn_store import limits
from ggn_store.model.documents import board
from ggn_store.model.documents.document import MAX_STEP, Envelope
from ggn_store.model.moves import play, play_text
from ggn_store.model.moves.play import Award
from ggn_store.movement import facts
from ggn_store.notation import qpi
from ggn_store.resources import sql
from ggn_store.store.database.engine import ADMIN, AUTHOR, UNCHECKED
from ggn_store.store.rulesets import lanes
from ggn_store.store.schema import tables as t

# How far the clock of whoever writes a revision may be ahead of the server's.
_CLOCKS_DIFFER = "1 day"
_KINDS = ("board", "ruleset", "piece", "lane", "summary", "facts", "revision", "proposal")
_KEYS = {
    "board": "board_id",
    "piece": "piece_id",
    "lane": f"key >> {lanes.OF_PIECE}",
    "summary": "piece_id",
    "facts": "piece_id",
}
# What is looked at of a piece.
_OF_PIECES = ("piece", "lane", "summary", "facts")
_MAY_REBUILD = "NOT has_table_privilege(current_user, TG_RELID, 'DELETE') AND "

# The functions that members call themselves; all others are called by triggers.
CALLED = {"ggn_is_ours(xid)": (AUTHOR, ADMIN), "ggn_people(wanted text, key text)": (AUTHOR, ADMIN)}
# Table -> the function that is run once for each statement that adds rows to it.
SEALED = {
    "board": "ggn_note_board",
    "square": "ggn_seal_board",
    "ruleset": "ggn_note_ruleset",
    "revision": "ggn_note_revision",
    "revision_merge": "ggn_seal_revision",
    "revision_piece": "ggn_seal_revision",
    "piece_name": "ggn_seal_names",
    "proposal": "ggn_note_proposal",
    "proposal_piece": "ggn_seal_proposal",
    "piece": "ggn_note_piece",
    **{table.name: "ggn_seal_piece" for table in t.PIECE_TABLES},
    "lane": "ggn_seal_lane",
    "piece_summary": "ggn_seal_summary",
    "piece_facts": "ggn_seal_facts",
    "piece_check": "ggn_note_check",
}
# The same for those from which an admin removes rows, all of a piece or none, and who makes again what is derived.
EMPTIED = {
    "square": "ggn_note_rows_of_board",
    **{table.name: "ggn_note_rows_of_piece" for table in t.PIECE_TABLES},
    "lane": "ggn_note_rows_of_lane",
    "piece_summary": "ggn_note_rows_of_summary",
    "piece_facts": "ggn_note_rows_of_facts",
}


def signatures() -> list[str]:
    """The functions, with the types of their arguments."""
    return [match[1] for each in _functions("") if (match := re.match(r"CREATE OR REPLACE FUNCTION (.+?\))", each))]


def script(schema: str) -> str:
    """The text of `statements`."""
    return "\n\n".join(f"{each};" for each in statements(schema))


def statements(schema: str) -> list[str]:
    """What makes the guards, or brings them to this program's version; run as the tables' owner."""
    return [
        f"CREATE UNLOGGED TABLE IF NOT EXISTS {UNCHECKED} (kind text NOT NULL, id bigint NOT NULL)",
        f"CREATE INDEX IF NOT EXISTS ix_{UNCHECKED} ON {UNCHECKED} (kind, id)",
        *_functions(schema),
        *(_trigger(f"{table}_sealed", "INSERT", f'"{table}"', function) for table, function in SEALED.items()),
        *(_trigger(f"{table}_emptied", "DELETE", f'"{table}"', function) for table, function in EMPTIED.items()),
        "CREATE OR REPLACE TRIGGER piece_changed AFTER UPDATE ON piece REFERENCING NEW TABLE AS touched_rows\n"
        "FOR EACH STATEMENT EXECUTE FUNCTION ggn_note_lane()",
        *(
            f"CREATE OR REPLACE TRIGGER {table}_permitted BEFORE INSERT ON {table}\n"
            "FOR EACH ROW EXECUTE FUNCTION ggn_require_tagger()"
            for table in ("tag", "ruleset_state")
        ),
        f"DROP TRIGGER IF EXISTS {UNCHECKED}_checked ON {UNCHECKED}",
        f"CREATE CONSTRAINT TRIGGER {UNCHECKED}_checked AFTER INSERT ON {UNCHECKED} DEFERRABLE INITIALLY DEFERRED\n"
        "FOR EACH ROW EXECUTE FUNCTION ggn_check()",
    ]


def _trigger(name: str, event: str, table: str, function: str) -> str:
    touched = "OLD" if event == "DELETE" else "NEW"
    return (
        f"CREATE OR REPLACE TRIGGER {name} AFTER {event} ON {table}\n"
        f"REFERENCING {touched} TABLE AS touched_rows FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
    )


def _functions(schema: str) -> Iterator[str]:
    def function(name: str, **words: str) -> str:
        return sql(__package__, name, schema=schema, **words)

    def note(name: str, *kinds: str, key: str = "id", only_of_ours: str = "") -> str:
        return function("note", function=name, key=key, kinds=str([*kinds]), only_of_ours=only_of_ours)

    def seal(parent: str, key: str, kind: str, unless: str = "", name: str | None = None) -> str:
        only = sql(__package__, "only_of_ours", parent=parent, unless=unless)
        return note(f"ggn_seal_{name or kind}", kind, key=key, only_of_ours=f"{only}\n  ")

    def content(kind: str) -> str:
        fields = ", ".join(f"'{name}'" for name in Envelope.__slots__)
        return sql(__package__, "content", list=kind, fields=fields)

    identifier = f"^(?:{qpi.PATTERN})$".replace("'", "''")
    yield function("is_ours")
    yield function("fault_of_board", farthest=str(board.FARTHEST))
    yield function("fault_of_ruleset")
    yield function("fault_of_piece", identifier=identifier, most_steps=str(MAX_STEP))
    yield function("fault_of_lane", **_numbers_of_lanes())
    yield function("fault_of_summary", counts=", ".join(t.COUNTS))
    yield function("fault_of_facts", version=str(facts.VERSION))
    yield function("is_play", **_words_of_play())
    yield function("fault_of_revision", content=content("revision"), clocks_differ=_CLOCKS_DIFFER)
    yield function("fault_of_proposal", content=content("proposal"))
    faults = "".join(f"WHEN '{kind}' THEN fault := ggn_fault_of_{kind}(NEW.id); " for kind in _KINDS)
    yield function("check", faults=faults)
    yield function("require_tagger")
    for kind in ("board", "ruleset", "revision", "proposal"):
        yield note(f"ggn_note_{kind}", kind)
    yield note("ggn_note_piece", *_OF_PIECES)
    # Who says that a piece was found sound has it looked at again.
    yield note("ggn_note_check", *_OF_PIECES, key="piece_id")
    yield note("ggn_note_lane", "lane")
    for kind, key in _KEYS.items():
        yield note(f"ggn_note_rows_of_{kind}", kind, key=key)
    yield seal("board", _KEYS["board"], "board")
    yield seal("revision", "revision_id", "revision")
    yield seal("revision", "revision_id", "revision", unless=_MAY_REBUILD, name="names")
    yield seal("proposal", "proposal_id", "proposal")
    yield seal("piece", _KEYS["piece"], "piece")
    yield seal("piece", _KEYS["lane"], "lane", unless=_MAY_REBUILD)
    for kind in ("summary", "facts"):
        yield seal("piece", _KEYS[kind], kind, unless=_MAY_REBUILD)


def _words_of_play() -> dict[str, str]:
    kinds = play.OUTCOMES.items()
    words: dict[str, Iterable[str]] = {
        "duties": play.DUTIES,
        "host": play.HOST_DUTIES,
        "kinds": play.OUTCOMES,
        "verdicts": get_args(Award),
        "allowed": [f"{name} {key}" for name, kind in kinds for key in (*kind.must, *kind.may)],
        "needed": [f"{name} {key}" for name, kind in kinds for key in kind.must],
    }
    listed = {name: ", ".join(f"'{word}'" for word in each) for name, each in words.items()}
    return listed | {"most": str(play_text.MOST), "longest": str(limits.LABEL.default)}


def _numbers_of_lanes() -> dict[str, str]:
    numbers = {"bits": lanes.OF_PIECE, "lanes": lanes.OF_SOURCE, "most_facts": lanes.FACTS, "version": lanes.VERSION}
    sources = (1 << lanes.OF_PIECE - lanes.OF_SOURCE) - 1
    return {name: str(number) for name, number in (numbers | {"sources": sources}).items()}
