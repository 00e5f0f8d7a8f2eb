"""What a check remembers: a piece that was sound is not looked at again, unless anything of it has changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import Store
from ggn_store.model.teams.care import Verification
from ggn_store.store.rulesets import pieces
from ggn_store.store.schema import tables as t
from ggn_store.store.upkeep import memory
from tests.support.guards import drop_guards
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.sampled import sampled
from tests.support.stored import DIFF, KNIGHT, ROOK

GDL: dict[str, Any] = {
    "$state": {"ep": {"values": ["3", "none"], "initial": "none"}},
    "D:M": {"x": {"y": [{"action": {"name": "go"}, "when": {"ep": ["3"]}, "diff": {"state": {"ep": "none"}}}]}},
}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The identifiers of pieces whose rows a check reads."""
    found: list[str] = []
    reading = pieces.Reader.piece

    def noted(reader: pieces.Reader, rows: Any, piece_id: int, identifier: str) -> Any:
        found.extend([identifier] * reader.is_strict)
        return reading(reader, rows, piece_id, identifier)

    monkeypatch.setattr(pieces.Reader, "piece", noted)
    return found


def change(store: Store, *statements: str) -> None:
    """Change rows in spite of all triggers."""
    with store.session.database.writing() as connection:
        drop_guards(connection)
        for statement in statements:
            assert connection.execute(text(statement)).rowcount > 0, statement


def test_only_what_is_new_is_read_again(store: Store, read: list[str]) -> None:
    for name, rules in (("one", KNIGHT), ("two", ROOK)):
        store.load(rules, name)
        assert store.upkeep.verify().problems == ()
    assert read == ["C:N", "C:R"]
    seen: list[str] = []
    assert store.upkeep.verify(progress=seen.append) == store.upkeep.verify("one", "two") == Verification(2, 2, 0, ())
    assert {"piece C:N", "piece C:R"} <= set(seen)
    assert read == ["C:N", "C:R"]
    assert store.upkeep.check(full=True) == []
    assert store.upkeep.verify("one", full=True).problems == ()
    assert read == ["C:N", "C:R", "C:N", "C:R", "C:N"]


def test_what_is_remembered_goes_with_the_piece_and_not_with_what_is_derived(store: Store, read: list[str]) -> None:
    store.load(KNIGHT, "game")
    assert store.upkeep.check() == []
    store.upkeep.rebuild()
    assert store.upkeep.check() == []
    assert read == ["C:N"]
    change(store, "DELETE FROM audit", "DELETE FROM revision_piece", "DELETE FROM revision")
    store.upkeep.collect()
    with store.session.reading() as connection:
        for table in t.ABOUT_PIECES:
            assert connection.execute(table.select()).all() == []


# Of each table of a piece, and of what is derived from it: what changes a value, which the program never does.
CHANGES = (
    "UPDATE condition SET state = CASE state WHEN 'empty' THEN 'enemy' ELSE 'empty' END",
    "UPDATE condition SET polarity = CASE polarity WHEN 'must' THEN 'deny' ELSE 'must' END",
    "UPDATE condition SET square = square + 1",
    "DELETE FROM condition",
    "UPDATE effect SET becomes = 'C:P' WHERE becomes IS NULL",
    "UPDATE effect SET becomes = NULL WHERE becomes IS NOT NULL",
    "UPDATE effect SET square = square + 10",
    "DELETE FROM effect WHERE becomes IS NULL",
    "UPDATE hand_effect SET delta = 3 * delta",
    "UPDATE hand_effect SET piece = 'c:p'",
    "UPDATE variant SET toggle = NOT toggle",
    "UPDATE destination SET square = NULL WHERE ordinal = 0",
    "UPDATE destination SET square = square + 1",
    "UPDATE source SET square = NULL WHERE ordinal = 0",
    "UPDATE source SET square = square + 1",
    "UPDATE variant_origin SET step = step + 1",
    "UPDATE variant_origin SET chainable = NOT chainable",
    "UPDATE variant_origin SET action = 'stay'",
    "UPDATE guard SET value = 'none'",
    "UPDATE state_effect SET value = '3'",
    "UPDATE piece SET style = 'X'",
    "UPDATE piece SET terminal = NOT terminal",
    "UPDATE piece SET digest = identifier",
    "UPDATE lane SET key = key + 1000",
    "UPDATE lane SET target = target + 1",
    "UPDATE lane SET facts = facts || '1'",
    "DELETE FROM lane",
    "DELETE FROM piece_facts",
    "UPDATE piece_facts SET version = version + 1",
    "UPDATE piece_facts SET moves = 'other'",
    "UPDATE piece_facts SET rides = NOT coalesce(rides, FALSE)",
    "UPDATE piece_facts SET off_path = off_path + 1",
    "UPDATE piece_facts SET layout = 'network [[]]'",
    "UPDATE piece_facts SET named = '1'",
    "UPDATE piece_facts SET entries = NULL",
    "DELETE FROM piece_summary",
    *(f"UPDATE piece_summary SET {name} = {name} + 1" for name in t.COUNTS),
)


# None of these is a NULL.
INSTEAD_OF_NULL = (
    "UPDATE effect SET becomes = '' WHERE becomes IS NULL",
    "UPDATE source SET square = -1 WHERE square IS NULL",
)
# The first of each table.
TELLING = tuple({re.sub("DELETE FROM |UPDATE ", "", each).split()[0]: each for each in CHANGES[::-1]}.values())


@pytest.mark.parametrize(
    ("address", "statement"),
    [*(("sqlite", each) for each in TELLING), *sampled(("postgres", each) for each in TELLING)],
    indirect=["address"],
)
def test_whatever_has_changed_is_found(store: Store, statement: str) -> None:
    require_found(store, statement, again=statement in TELLING[::3])


@pytest.mark.parametrize("statement", INSTEAD_OF_NULL)
def test_a_value_where_there_was_none_is_found(store: Store, statement: str) -> None:
    require_found(store, statement, again=False)


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
@pytest.mark.parametrize("column", ["condition.state", "lane.facts", "piece_facts.moves", "condition.square"])
def test_bytes_that_were_a_text_or_a_number_are_found(store: Store, column: str) -> None:
    table, name = column.split(".")
    require_found(store, f"UPDATE {table} SET {name} = CAST({name} AS BLOB)", again=True)


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
@pytest.mark.parametrize("value", ["x'01'", "2", "'none'"])
@pytest.mark.parametrize("column", ["variant.toggle", "variant_origin.chainable", "piece_facts.leaps"])
def test_what_is_neither_true_nor_false_is_found(store: Store, column: str, value: str) -> None:
    store.load(GDL | DIFF, "game")
    store.load(KNIGHT, "knight")
    assert store.upkeep.check() == []
    table, name = column.split(".")
    # Of a true one all of these read as true.
    change(store, f"UPDATE {table} SET {name} = {value} WHERE {name} = (SELECT max({name}) FROM {table})")
    assert store.upkeep.check(full=True) != []
    assert store.upkeep.check() != []


@pytest.mark.long
@pytest.mark.parametrize("statement", CHANGES)
def test_whatever_has_changed_is_found_each_time_and_by_a_full_check(store: Store, statement: str) -> None:
    require_found(store, statement, again=True)


def require_found(store: Store, statement: str, *, again: bool) -> None:
    store.load(DIFF, "diff")
    store.load(GDL, "gdl")
    assert store.upkeep.check() == []
    change(store, statement)
    found = store.upkeep.check()
    assert any(each.startswith("piece ") for each in found), found
    if again:
        assert store.upkeep.check() == found == store.upkeep.check(full=True)


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE piece_check SET fingerprint = '{other}' WHERE piece_id = {piece}",
        "UPDATE piece_check SET checker = checker + 1",
        "UPDATE piece_check SET checked_at = '2999-01-01 00:00:00.000000'",
        "UPDATE piece_check SET piece_id = piece_id + 100",
        "DELETE FROM piece_check",
    ],
)
def test_what_is_remembered_otherwise_than_it_was_written_counts_for_nothing(
    store: Store, read: list[str], forgery: str
) -> None:
    store.load(KNIGHT | {"C:R": ROOK["C:R"]}, "game")
    store.upkeep.check()
    with store.session.reading() as connection:
        listed = "SELECT piece_id, identifier, fingerprint FROM piece_check JOIN piece ON piece_id = id ORDER BY id"
        (piece, identifier, _), (_, _, fingerprint) = connection.execute(text(listed)).all()
    statement = forgery.format(piece=piece, other=fingerprint)
    if "+ 100" in statement:
        change(store, "DELETE FROM piece_check WHERE piece_id IN (SELECT max(piece_id) FROM piece_check)")
        with store.session.database.writing() as connection, pytest.raises(Exception, match=r"(?i)foreign key"):
            connection.execute(text(statement))
        return
    change(store, statement)
    del read[:]
    assert store.upkeep.check() == []
    assert sorted(read) == ([identifier] if "fingerprint" in statement else ["C:N", "C:R"])


def test_another_version_of_the_checker_looks_at_everything(
    store: Store, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.load(KNIGHT, "game")
    store.upkeep.check()
    monkeypatch.setattr(memory, "CHECKER", memory.CHECKER + 1)
    for _ in range(2):
        assert store.upkeep.check() == []
    assert read == ["C:N"] * 2


def test_what_is_damaged_is_not_remembered_and_what_is_mended_is(store: Store) -> None:
    store.load(KNIGHT, "game")
    change(store, "UPDATE condition SET square = square + 1")
    for _ in range(2):
        assert len(store.upkeep.check()) == 1
    change(store, "UPDATE condition SET square = square - 1")
    for _ in range(2):
        assert store.upkeep.check() == []


def test_a_file_that_nobody_may_write_is_checked_all_the_same(tmp_path: Path, read: list[str]) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(KNIGHT, "game")
    before = path.read_bytes()
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        for _ in range(2):
            assert store.upkeep.check() == []
    assert read == ["C:N"] * 2
    assert path.read_bytes() == before


def test_the_commands_take_full(ggn: Command, address: str) -> None:
    with Store.open(address) as store:
        store.load(KNIGHT, "game")
    for command in (("verify",), ("verify", "game"), ("db", "check")):
        for full in ((), ("--full",)):
            done = ggn(*command, *full)
            assert (done.code, done.err) == (0, "1 piece, 1 revision and 0 tags checked: all sound\n")
    assert ggn("verify", "--full", "--remote", address).code == 2
