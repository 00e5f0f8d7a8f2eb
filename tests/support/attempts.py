"""Rows that somebody with SQL in hand may try to insert beside the program: made by hand, and at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ggn_store.store.schema import tables as t

Row = dict[str, Any]

TABLES = (t.proposal, t.proposal_piece, t.verdict, t.review_record, t.policy, t.tag, t.ruleset_state)
LARGEST = 2_147_483_647
ESCAPES = "\x1b[2J\u202e\x07"


class Sql(str):
    """A value that the database works out."""


NEW = Sql("(SELECT max(id) FROM proposal)")


@dataclass(frozen=True)
class Attempt:
    """Rows that one transaction inserts, in this order: table and values."""

    name: str
    rows: tuple[tuple[str, Row], ...]

    def __str__(self) -> str:
        return self.name

    def reaches(self, ruleset: int) -> bool:
        """Whether it says something of this ruleset, or of the whole store."""
        return any(row.get("ruleset_id") == ruleset or row.get("namespace") == "" for _, row in self.rows)


@dataclass(frozen=True)
class Keys:
    """What the rows of a store may refer to."""

    ruleset: int
    other: int
    head: int
    foreign: int
    board: int
    pieces: tuple[int, ...]
    digest: str
    open: int
    number: int
    revision: int


def stamp(days: float = 0) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%d %H:%M:%S.%f")


def sound(keys: Keys) -> dict[str, Row]:
    """A row of each table that fits, or nearly does: each attempt changes something in it."""
    said: Row = {"author": "eve", "message": "fine", "created_at": stamp()}
    return {
        "proposal": {
            "ruleset_id": keys.ruleset,
            "number": keys.number + 1,
            "base_id": keys.head,
            "digest": keys.digest,
            "dialect": "diff",
            "board_id": keys.board,
            "envelope": "{}",
            "pieces": 1,
            "accepted": None,
            **said,
        },
        "proposal_piece": {"proposal_id": keys.open, "ordinal": 1, "piece_id": keys.pieces[0]},
        "verdict": {
            "proposal_id": keys.open,
            "ordinal": 1,
            "verdict": "approved",
            "revision_id": None,
            "digest": keys.digest,
            **said,
        },
        "review_record": {
            "ruleset_id": keys.ruleset,
            "key": "f" * 64,
            "proposal": None,
            "number": 1,
            "round": 1,
            "verdict": "proposed",
            "digest": keys.digest,
            "base": None,
            "revision": None,
            "piece": None,
            "source": None,
            "destination": None,
            "role": None,
            **said,
        },
        "policy": {"namespace": "else", "number": 1, "rules": '{"review": 1}', "positions": None, **said},
        "tag": {"ruleset_id": keys.ruleset, "name": "fresh", "number": 1, "revision_id": keys.head, **said},
        "ruleset_state": {
            "ruleset_id": keys.ruleset,
            "number": 1,
            "state": "deprecated",
            "successor": None,
            **said,
        },
    }


TEXTS = (
    "",
    " ",
    "not json",
    "null",
    "[]",
    "{}",
    "[1]",
    '["a", "b"]',
    '{"title": 1}',
    '{"title": "A", "title": "A"}',
    '{"title":"A"}',
    '{"board": "zz"}',
    '{"variables": "x"}',
    '{"unknown": "x"}',
    '{"review": 101}',
    '{"review": 1e9}',
    '{"review": 99999999999999999999}',
    '{"lint": []}',
    '{"lint": ["all", 1]}',
    '{"lint": "all"}',
    '{"compatible": {"name": "x", "positions": 1}}',
    '{"compatible": {"name": "", "positions": 0}, "review": 1}',
    "[" * 5_000,
    "zz",
    "f" * 64,
    "F" * 64,
    "0" * 63,
    "x" * 300,
    "a//b",
    "team/",
    "-a",
    "a b",
    "été",
    ESCAPES,
    "'; DROP TABLE proposal; --",
    "merged",
    "approved",
    "retired",
    "gdl",
    "ann",
    "2999-01-01 00:00:00.000000",
    "1969-01-01 00:00:00.000000",
    "infinity",
    "-infinity",
)
NUMBERS = (None, -1, 0, 1, 2, 3, 17, 1_000_000, LARGEST, -LARGEST, 10**12)
# What a file may hold in any column.
ODDITIES = (b"\xff\xfe", 1.5, "1.5x", "\x00", 2**63 - 1)


def random_attempts(count: int, seed: int, keys: Keys, *, in_a_file: bool) -> Iterator[Attempt]:
    """Rows of all tables with one to three columns of any value."""
    chance = random.Random(seed)
    for number in range(count):
        table = chance.choice(TABLES)
        row = sound(keys)[table.name]
        for column in chance.sample([*row], chance.randint(1, min(3, len(row)))):
            is_text = isinstance(row[column], str) or column in ("accepted", "positions", "successor")
            values: list[Any] = [*(TEXTS if is_text else NUMBERS)]
            row[column] = chance.choice([*values, *ODDITIES, *TEXTS, *NUMBERS] if in_a_file else values)
        yield Attempt(f"random {number}: {table.name}", ((table.name, row),))


def forged(keys: Keys, table: str, /, **columns: Any) -> tuple[str, Row]:
    return table, sound(keys)[table] | columns


def attempts_by_hand(keys: Keys) -> Iterator[Attempt]:
    """What breaks reviews where nothing looks at it, by name."""

    def one(said: str, table: str, /, **columns: Any) -> Attempt:
        return Attempt(said, (forged(keys, table, **columns),))

    after = keys.number + 1
    yield one("propose an envelope that is no JSON", "proposal", envelope="not json")
    yield one("propose an envelope in another form", "proposal", envelope='{"title":"A"}')
    yield one("propose an unknown field", "proposal", envelope='{"owner": "eve"}')
    yield one("propose a field that is no text", "proposal", envelope='{"title": 1}')
    yield one("propose a board that is none", "proposal", envelope='{"board": "zz"}')
    yield one("take the last number", "proposal", number=LARGEST)
    yield one("leave a number out", "proposal", number=after + 1)
    yield one("take a number again", "proposal", number=keys.number)
    yield one("take no number", "proposal", number=0)
    yield one("propose in 2999", "proposal", created_at="2999-01-01 00:00:00.000000")
    yield one("propose in 1999", "proposal", created_at="1999-01-01 00:00:00.000000")
    yield one("propose the day after tomorrow", "proposal", created_at=stamp(2))
    yield one("propose the day before yesterday", "proposal", created_at=stamp(-2))
    yield one("propose a digest that is none", "proposal", digest="zz")
    yield one("propose a digest in capitals", "proposal", digest=keys.digest.upper())
    yield one("propose a million pieces", "proposal", pieces=1_000_000)
    yield one("propose no pieces", "proposal", pieces=0)
    yield one("propose fewer than no pieces", "proposal", pieces=-1)
    yield one("propose on another ruleset's revision", "proposal", base_id=keys.foreign)
    yield one("accept what is no list", "proposal", accepted='{"a": 1}')
    yield one("accept numbers", "proposal", accepted="[1, 2]")
    yield one("accept nothing in a list", "proposal", accepted="[]")
    yield one("propose at length", "proposal", message="m" * 2_000_000)
    yield one("propose under a long name", "proposal", author="a" * 5_000)
    yield one("propose without its pieces", "proposal", pieces=2)
    yield Attempt(
        "propose with one piece of two",
        (
            forged(keys, "proposal", pieces=2),
            ("proposal_piece", {"proposal_id": NEW, "ordinal": 0, "piece_id": keys.pieces[0]}),
        ),
    )
    yield Attempt(
        "propose pieces under the digest of others",
        (
            forged(keys, "proposal"),
            ("proposal_piece", {"proposal_id": NEW, "ordinal": 0, "piece_id": keys.pieces[0]}),
        ),
    )
    yield one("choose a key", "proposal", id=-1)
    yield one("add a piece to a proposal", "proposal_piece")
    yield one("add a piece in front of a proposal", "proposal_piece", ordinal=-1)
    yield one("add a piece of another board", "proposal_piece", piece_id=keys.pieces[-1])
    yield one("put another piece in place of one", "proposal_piece", ordinal=0, piece_id=keys.pieces[-1])
    yield one("approve without a digest", "verdict", digest=None)
    yield one("approve another digest", "verdict", digest="f" * 64)
    yield one("reject a digest", "verdict", verdict="rejected")
    yield one("merge by hand", "verdict", verdict="merged", digest=None, revision_id=keys.head)
    yield one("approve in 2999", "verdict", created_at="2999-01-01 00:00:00.000000")
    yield one("approve as the ninth", "verdict", ordinal=9)
    yield one("approve as the last", "verdict", ordinal=LARGEST)
    yield one("approve what is not there", "verdict", proposal_id=LARGEST)
    yield one("amend with a gap", "proposal", number=keys.number, round=3)
    yield one("amend in another's name", "proposal", number=keys.number, round=2, base_id=None)
    yield one("amend with the same content", "proposal", number=keys.number, round=2, author="ann")
    yield one("begin with the second round", "proposal", round=2)
    yield one("take no round", "proposal", round=0)
    yield one("take the last round", "proposal", number=keys.number, round=LARGEST)
    said = {"verdict": "commented", "digest": None}
    yield one("comment without a text", "verdict", **said | {"message": None})
    yield one("comment with blanks", "verdict", **said | {"message": "  "})
    yield one("comment on a digest", "verdict", **said | {"digest": keys.digest})
    yield one("comment at length", "verdict", **said | {"message": "m" * 2_000_000})
    yield one("comment on a piece that is not there", "verdict", **said, piece="C:X")
    yield one("comment on a square that is not there", "verdict", **said, piece="C:N", source="z9")
    yield one("comment on an entry that is not there", "verdict", **said, piece="C:N", source="b1", destination="b1")
    yield one("comment on an entry of nothing", "verdict", **said, source="b1")
    yield one("comment on an entry from nowhere", "verdict", **said, piece="C:N", destination="c3")
    yield one("comment in 2999", "verdict", **said | {"created_at": "2999-01-01 00:00:00.000000"})
    yield one("approve an entry", "verdict", piece="C:N")
    yield one("record under a key of its own choice", "review_record")
    yield one("record under a key that is none", "review_record", key="zz")
    yield one("record for a ruleset that is not there", "review_record", ruleset_id=LARGEST)
    yield one("record an approval of nothing", "review_record", verdict="approved", proposal="f" * 64)
    yield one("record the last number", "review_record", number=LARGEST)
    yield one("record a digest that is none", "review_record", digest="zz")
    yield one("record in escapes", "review_record", author=ESCAPES, message=ESCAPES)
    yield one("record in 2999", "review_record", created_at="2999-01-01 00:00:00.000000")
    yield one("record at length", "review_record", message="m" * 2_000_000)
    for name, rules in (
        ("that are no JSON", "not json"),
        ("that are a list", "[]"),
        ("with a review in text", '{"review": "1"}'),
        ("with too large a review", '{"review": 2147483647}'),
        ("with no review", '{"review": 0}'),
        ("with a word more", '{"else": true, "review": 1}'),
        ("in another form", '{"review":1}'),
        ("with lint that is no list", '{"lint": "all"}'),
        ("with lint in numbers", '{"lint": [1]}'),
        ("with positions that are not there", '{"compatible": {"name": "x", "positions": 1}}'),
    ):
        yield one(f"set rules {name}", "policy", rules=rules)
    kept = '{"compatible": {"name": "x", "positions": 1}}'
    for name, positions in (
        ("that are no JSON", "not json\n"),
        ("that are a number", "1\n"),
        ("without a board", "{}\n"),
        ("that are too many", '{"board": {}, "side": "first"}\n' * 2),
        ("without an end", '{"board": {}, "side": "first"}'),
    ):
        yield one(f"keep positions {name}", "policy", rules=kept, positions=positions)
    yield one("keep positions for nothing", "policy", positions='{"board": {}, "side": "first"}\n')
    yield one("set the last policy", "policy", namespace="team", number=LARGEST, rules=None)
    yield one("set the last policy of all", "policy", namespace="", number=LARGEST)
    yield one("set a policy of a place that is none", "policy", namespace="team//x")
    yield one("set a policy of escapes", "policy", namespace=ESCAPES)
    yield one("set a policy in 2999", "policy", created_at="2999-01-01 00:00:00.000000")
    yield one("tag with escapes", "tag", name=ESCAPES)
    yield one("tag with a digit in front", "tag", name="3rd")
    yield one("tag at length", "tag", name="t" * 201)
    yield one("tag another ruleset's revision", "tag", revision_id=keys.foreign)
    yield one("move a tag for the last time", "tag", number=LARGEST)
    yield one("move a tag in 2999", "tag", created_at="2999-01-01 00:00:00.000000")
    itself = Sql(f"(SELECT name FROM ruleset WHERE id = {keys.ruleset})")
    yield one("use the ruleset itself", "ruleset_state", successor=itself)
    yield one("use a name that is none", "ruleset_state", successor=ESCAPES)
    yield one("say a state for the last time", "ruleset_state", number=LARGEST, state="retired")
    yield one("say a state in 2999", "ruleset_state", created_at="2999-01-01 00:00:00.000000")
    yield one("say a state of nothing", "ruleset_state", ruleset_id=LARGEST)


def insertion(verb: str, table: str, row: Row, mark: str) -> tuple[str, Row]:
    """The statement that inserts a row, and its values, whose places are marked so."""
    marks = (value if isinstance(value, Sql) else mark.format(name) for name, value in row.items())
    given = {name: value for name, value in row.items() if not isinstance(value, Sql)}
    return f"{verb} INTO {table} ({', '.join(row)}) VALUES ({', '.join(marks)})", given
