"""What `check` finds in a store that somebody has tampered with."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from ggn_store import Store
from ggn_store.store.upkeep import check
from ggn_store.store.upkeep.memory import Memory
from tests.support.databases import DATABASES, new_store_address
from tests.support.guards import drop_guards, drop_guards_of_file
from tests.support.stored import DIFF, changed, raw

OF_PAWN = "piece_id = (SELECT min(id) FROM piece WHERE identifier = 'C:P')"
OF_LANE = "each, path, passed, first, target, statements, facts, numbers"
OTHER_DIGEST = "'" + "0" * 64 + "'"

TAMPERINGS = {
    "lanes of no piece behind all": f"INSERT INTO lane SELECT key + {99 << 35}, {OF_LANE} FROM lane",
    "lanes of no piece before all": f"INSERT INTO lane SELECT key - {99 << 35}, {OF_LANE} FROM lane",
    "a condition's state": f"UPDATE condition SET state = 'c:p' WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition's square": f"UPDATE condition SET square = 0 WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition's polarity": f"UPDATE condition SET polarity = 'deny' WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition beyond the board": f"UPDATE condition SET square = 99 WHERE {OF_PAWN} AND state = 'enemy'",
    "a condition before the board": f"UPDATE condition SET square = square - 6 WHERE {OF_PAWN}",
    "no condition": f"DELETE FROM condition WHERE {OF_PAWN}",
    "a second condition on the square": "INSERT INTO condition SELECT piece_id, variant, polarity, square, 'a' "
    f"FROM condition WHERE {OF_PAWN} AND state = 'enemy'",
    "an effect less": f"DELETE FROM effect WHERE {OF_PAWN} AND becomes IS NULL AND variant = 0",
    "an effect more": "INSERT INTO effect SELECT piece_id, variant, square - 1, becomes "
    f"FROM effect WHERE {OF_PAWN} AND becomes IS NULL AND variant = 0",
    "what a square becomes": f"UPDATE effect SET becomes = 'C:Q' WHERE {OF_PAWN} AND becomes IS NULL",
    "a hand's change": "UPDATE hand_effect SET delta = 5",
    "a hand's piece": "UPDATE hand_effect SET piece = 'c:p'",
    "who is to move": "UPDATE variant SET toggle = true WHERE toggle = false",
    "no toggle": f"UPDATE variant SET toggle = NULL WHERE {OF_PAWN}",
    "a possibility's ordinal": f"UPDATE variant SET ordinal = 1 WHERE {OF_PAWN} AND destination = 1",
    "a destination's square": f"UPDATE destination SET square = 0 WHERE {OF_PAWN} AND ordinal = 1",
    "a destination in hand": f"UPDATE destination SET square = NULL WHERE {OF_PAWN} AND ordinal = 1",
    "a source's square": f"UPDATE source SET square = 0 WHERE {OF_PAWN}",
    "swapped ordinals of pieces": "UPDATE revision_piece SET ordinal = ordinal + 7; "
    "UPDATE revision_piece SET ordinal = 9 - ordinal",
    "a gap in the ordinals of pieces": "UPDATE revision_piece SET ordinal = 7 WHERE ordinal = 2",
    "a piece less": "DELETE FROM revision_piece WHERE ordinal = 1",
    "a piece's digest": f"UPDATE piece SET digest = {OTHER_DIGEST} WHERE identifier = 'C:P'",
    "a piece's identifier": "UPDATE piece SET identifier = 'C:p' WHERE identifier = 'C:P'",
    "a piece's side": "UPDATE piece SET side = 'second' WHERE identifier = 'C:P'",
    "a piece's letter": "UPDATE piece SET letter = 'Q' WHERE identifier = 'C:P'",
    "a piece's dialect": "UPDATE piece SET dialect = 'perform' WHERE identifier = 'C:P'",
    "a revision's digest": f"UPDATE revision SET digest = {OTHER_DIGEST}",
    "a revision's dialect": "UPDATE revision SET dialect = 'perform'",
    "a revision's number": "UPDATE revision SET number = 2",
    "a revision's parent": "UPDATE revision SET parent_id = id",
    "a ruleset without revisions": "DELETE FROM revision_piece; DELETE FROM revision",
    "an envelope": """UPDATE revision SET envelope = '{"title":"Draughts"}'""",
    "an envelope of other keys": """UPDATE revision SET envelope = '{"colour":"red"}'""",
    "an envelope that is a list": "UPDATE revision SET envelope = '[1]'",
    "an envelope that is no JSON": "UPDATE revision SET envelope = '{'",
    "a square's label": "UPDATE square SET label = 'zz' WHERE label = 'd2'",
    "a square's number": "UPDATE square SET number = 99 WHERE number = 5",
    "a square less": "DELETE FROM square WHERE number = 5",
    "a board's digest": f"UPDATE board SET digest = {OTHER_DIGEST}",
    "a square's file": "UPDATE square SET file = file + 1 WHERE label = 'd2'",
    "a square without a rank": "UPDATE square SET rank = NULL WHERE label = 'd2'",
    "a square with a layer": "UPDATE square SET layer = 1 WHERE label = 'd2'",
    "a board's shape": "UPDATE board SET shape = '3x2'",
    "a board without a shape": "UPDATE board SET shape = NULL",
    "a board whose shape is no shape": "UPDATE board SET shape = 'round'",
}
# What only SQLite lets in, where nothing enforces types, and foreign keys only for those who ask for it.
SQLITE_TAMPERINGS = {
    "a destination without a source": "UPDATE destination SET source = 5 WHERE source = 0",
    "a possibility less": "DELETE FROM variant WHERE number = 0",
    "no board": "DELETE FROM board",
    "no squares": "DELETE FROM square",
    "no pieces": "DELETE FROM piece",
    "a piece of another board": "UPDATE piece SET board_id = 99",
    "a revision of another board": "UPDATE revision SET board_id = 99",
    "text for a number": "UPDATE condition SET square = 'e4'",
    "text for a date": "UPDATE revision SET created_at = 'yesterday'",
    "bytes for text": "UPDATE condition SET state = x'ff00'",
    "bytes for an envelope": "UPDATE revision SET envelope = x'ff00'",
    "half a character for text": "UPDATE square SET label = CAST(x'ff' AS TEXT) WHERE number = 5",
}


PLACES = ("board ", "piece ", "revision ", "ruleset ", "table ")


class _UndoError(Exception):
    """Ends a transaction so that nothing of it stays."""


@pytest.fixture(scope="module", params=DATABASES)
def sound(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with one document, which nothing changes for good."""
    with (
        new_store_address(request.param, tmp_path_factory.mktemp("sound"), request) as address,
        Store.open(address) as store,
    ):
        store.load(DIFF, "game")
        yield store
        assert store.upkeep.check() == []


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_check_names_what_was_tampered_with(sound: Store, tampering: str) -> None:
    database = sound.session.database
    with suppress(_UndoError), database.writing() as connection:
        drop_guards(connection)
        for statement in TAMPERINGS[tampering].split("; "):
            assert connection.execute(text(statement)).rowcount > 0
        walk = check._Walk(Memory(database, full=True), database, lambda: nullcontext(connection), (), lambda _: None)
        check_finds(database.integrity(connection) + walk.contents())
        raise _UndoError


@pytest.mark.parametrize("tampering", SQLITE_TAMPERINGS)
def test_check_names_what_only_sqlite_lets_in(tampering: str, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(DIFF, "game")
        with closing(sqlite3.connect(path)) as connection, connection:
            guards = drop_guards_of_file(connection)
            assert connection.execute(SQLITE_TAMPERINGS[tampering]).rowcount > 0
            for statement in guards:
                connection.execute(statement)
        check_finds(store.upkeep.check())


def test_check_of_a_store_names_the_piece_and_the_revision(store: Store, address: str) -> None:
    store.load(DIFF, "game")
    store.load(changed(DIFF, "c:r"), "game")
    assert store.upkeep.check() == []
    with raw(address) as connection:
        drop_guards(connection)
        connection.execute(text("UPDATE condition SET state = 'C:Q' WHERE state = 'C:P'"))
        connection.execute(text("UPDATE revision SET envelope = '{}' || ' ' WHERE number = 1"))
        connection.execute(text(f"UPDATE revision SET digest = {OTHER_DIGEST} WHERE number = 2"))
    found = store.upkeep.check()
    # Of the content, and of the history that it is part of.
    assert [each.split(":")[0] for each in found if each.startswith("revision")] == ["revision game@2"] * 2
    assert sum("(c:r)" in each for each in found) == 2
    assert len(found) == 4


def check_finds(found: list[str]) -> None:
    """Assert that something was found, and that it reads like what it is: one line each, beginning with where."""
    assert found
    assert [each for each in found if "\n" in each or not each.startswith(PLACES)] == []
