"""Definitions go into a store piece by piece, and what stands there then is what their whole document would be."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Column, Connection

from ggn_store import DocumentError, GgnStoreError, InputError, Store, generate, read_definition
from ggn_store.games import generate as generating
from ggn_store.games import library
from ggn_store.games.rules import Definition
from ggn_store.model.documents.document import Piece
from ggn_store.store.rulesets import load
from tests.support.databases import new_store
from tests.support.postgres import Server

ROOK = '[pieces.R]\nbetza = "R"\n'
PAWN = '[pieces.P]\nbetza = "mfW"\n'
HEAD = """
title = "A rook and a pawn"
source = "the tests"
board = "4x4"
style = "C"
start = "4/p3/P3/R3 / C/c"
"""
TINY = HEAD + ROOK + PAWN
# A ring of squares, of which the document names only those that a piece can reach.
RING = """
title = "Ring"
squares = ["b2:d2", "b3", "d3", "b4:d4", "h8"]
style = "C"

[pieces.R]
betza = "R"
"""
DROPS = """
title = "Drops"
board = "3x3"
style = "S"

[hands]
captures = true

[pieces.P]
betza = "fW"
drop = { nifu = true }

[pieces.K]
betza = "K"
terminal = true
"""
GAMES = {"tiny": TINY, "ring": RING, "drops": DROPS}


@pytest.mark.parametrize("name", [*GAMES, pytest.param("chess", marks=pytest.mark.long)])
def test_a_streamed_game_is_its_document_to_the_last_row(store: Store, name: str) -> None:
    definition = read_definition(GAMES[name]) if name in GAMES else library.read_game(name)
    document = generate(definition)
    streamed = store.load(definition, "streamed")
    assert (streamed.status, streamed.digest) == ("new", document.digest)
    assert store.load(document, "streamed").status == "unchanged"
    rules = store.ruleset("streamed")
    assert (rules.document(), rules.board) == (document, document.board)
    assert rules.export() == document.canonical()
    assert store.upkeep.check() == []
    # The other way round: what a document has brought is found again by its definition.
    assert store.load(document, "whole").status == "new"
    assert store.load(definition, "whole").status == "unchanged"


def test_a_game_that_is_loaded_again_is_unchanged_restored_or_the_next_revision(store: Store) -> None:
    tiny = read_definition(TINY)
    assert (store.load(tiny, "game").status, store.load(tiny, "game").status) == ("new", "unchanged")
    store.delete("game")
    assert store.load(tiny, "game").status == "restored"
    assert store.load(read_definition(TINY.replace('"R"\n', '"B"\n')), "game").number == 2
    # Another text that says the same game is another revision: the text is kept with it.
    assert store.load(read_definition(TINY + "# well\n"), "game").number == 3
    assert store.upkeep.check() == []


def test_the_definition_is_kept_with_every_revision(store: Store) -> None:
    store.load(read_definition(TINY), "game")
    store.load(read_definition(TINY.replace("rook", "castle")), "game")
    for reference, title in (("game@1", "A rook and a pawn"), ("game", "A castle and a pawn")):
        definition = store.ruleset(reference).definition
        assert definition is not None
        assert definition.title == title
    store.load({"C:R": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:R"}}}]}}}, "other")
    assert store.ruleset("other").definition is None


def test_no_piece_is_asked_for_before_the_rows_of_the_one_before_are_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, asked = 0, 0
    fill = store.session.database.fill

    def counted(connection: Connection, columns: Iterable[Column[Any]], rows: Any) -> None:
        nonlocal stored
        columns, rows = list(columns), list(rows)
        stored += len(rows) if columns[0].table.description == "variant" else 0
        fill(connection, columns, rows)

    def watched(definition: Definition) -> Iterator[Piece]:
        nonlocal asked
        for piece in original(definition):
            assert stored == asked
            asked += piece.possibilities
            yield piece

    original = generating.pieces
    monkeypatch.setattr(store.session.database, "fill", counted)
    monkeypatch.setattr(generating, "pieces", watched)
    store.load(library.read_game("chess"), "chess")
    assert stored == asked == 15_292


def test_the_rows_of_a_large_piece_are_stored_some_sources_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    fill = store.session.database.fill

    def counted(connection: Connection, columns: Iterable[Column[Any]], rows: Any) -> None:
        columns, rows = list(columns), list(rows)
        if columns[0].table.description == "condition":
            counts.append(len(rows))
        fill(connection, columns, rows)

    monkeypatch.setattr(store.session.database, "fill", counted)
    monkeypatch.setattr(load, "_ROWS_AT_ONCE", 60)
    game = read_definition(TINY)
    store.load(game, "game")
    document = generate(game)
    assert (sum(counts), document.pieces[0].conditions) == (document.conditions, 320)
    assert max(counts) < 80
    assert store.ruleset("game").document() == document
    assert store.upkeep.check() == []


def test_a_game_that_cannot_be_generated_to_its_end_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(definition: Definition) -> Iterator[Piece]:
        yield next(original(definition))
        raise GgnStoreError("too much of it")

    original = generating.pieces
    monkeypatch.setattr(generating, "pieces", broken)
    with pytest.raises(GgnStoreError, match="too much of it"):
        store.load(read_definition(TINY), "game")
    monkeypatch.undo()
    assert (store.list(), store.upkeep.check()) == ((), [])
    assert store.load(read_definition(TINY), "game").number == 1


def test_a_game_without_any_move_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="Still: no piece of this game can ever move"):
        store.load(read_definition('title = "Still"\nboard = "2x2"\nstyle = "C"\n[pieces.K]\nbetza = ""'), "still")
    assert store.list() == ()


def test_a_game_needs_a_name_and_a_good_one(store: Store) -> None:
    tiny = read_definition(TINY)
    with pytest.raises(InputError, match="needs a name"):
        store.load(tiny)
    with pytest.raises(GgnStoreError, match="cannot name a ruleset"):
        store.load(tiny, "a b")
    assert store.list() == ()


ORDERS = [HEAD + "".join(pieces) for pieces in itertools.permutations((ROOK, PAWN))]


@pytest.mark.parametrize("as_document", [False, True], ids=["a game", "a document"])
def test_two_that_store_the_same_pieces_in_other_orders_do_not_block_each_other(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch, as_document: bool
) -> None:
    address = postgres_server.create_store()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    one, two = map(read_definition, ORDERS)
    failures: list[BaseException] = []

    def load_the_other() -> None:
        try:
            store.load(generate(two) if as_document else two, "two")
        except GgnStoreError as error:
            failures.append(error)

    def interrupted(definition: Definition) -> Iterator[Piece]:
        """The pieces of a game; after the first of them, the other load comes as far as it can."""
        pieces = original(definition)
        if definition is one:
            yield next(pieces)
            other.start()
            with psycopg.connect(address, autocommit=True) as watcher:
                while other.is_alive() and watcher.execute(waiting).fetchone() == (0,):
                    pass
        yield from pieces

    original = generating.pieces
    other = threading.Thread(target=load_the_other)
    monkeypatch.setattr(generating, "pieces", interrupted)
    with Store.open(address) as store:
        store.load(
            read_definition(HEAD.split("start")[0] + PAWN.replace("W", "F")), "board"
        )  # which else is waited for
        store.load(one, "one")
        other.join()
        assert failures == []
        assert [summary.revision.name for summary in store.list()] == ["board", "one", "two"]
        assert store.upkeep.check() == []
    postgres_server.drop_database(address)


# --- files ---


def test_a_file_that_defines_a_game_is_loaded_by_its_name(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "my-game.toml"
    path.write_text(TINY, encoding="utf-8")
    assert str(store.load(path)) == "my-game@1"
    [result] = store.load_all([path])
    assert result.revision is not None
    assert (result.revision.status, result.possibilities) == (
        "unchanged",
        generate(read_definition(TINY)).possibilities,
    )
    told: list[int] = []
    list(store.load_all([path], name="other", progress=told.append))
    assert (len(told), sum(told)) == (4, result.possibilities)


@pytest.mark.parametrize("kind", ["a definition beside it", "a key of the file beside it", "a key of its line"])
def test_a_document_that_brings_its_definition_is_the_game_itself(store: Store, tmp_path: Path, kind: str) -> None:
    definition = read_definition(TINY)
    document = generate(definition)
    store.load(definition, "game")
    path = tmp_path / "game.json"
    said = {key: value for key, value in document.envelope.data().items() if key != "play"}
    if kind == "a key of its line":
        path = tmp_path / "game.ndjson"
        path.write_text(json.dumps({"name": "game", "document": document.data()} | said), encoding="utf-8")
    else:
        path.write_text(store.ruleset("game").export(), encoding="utf-8")
        text = TINY if kind == "a definition beside it" else "".join(f"{key} = '''\n{said[key]}'''\n" for key in said)
        (tmp_path / "game.toml").write_text(text, encoding="utf-8")
    [result] = store.load_all([path])
    assert result.error is None
    assert result.revision is not None
    assert result.revision.status == "unchanged"


def test_a_directory_is_loaded_without_loading_a_game_twice(store: Store, tmp_path: Path) -> None:
    for name, text in {
        "both.json": generate(read_definition(TINY)).canonical(),
        "both.toml": TINY,
        "deep/alone.toml": RING,
        "plain.json": generate(read_definition(DROPS)).canonical(),
        "plain.toml": 'title = "Plain"',
        "notes.toml": 'title = "of nothing"',
        "other.toml": "[tool]\nx = 1",
        "broken.toml": "[pieces.K]\nbetza = ",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    results = {result.name: result for result in store.load_all([tmp_path])}
    assert list(results) == ["both", "broken", "deep/alone", "plain"]
    assert [name for name, result in results.items() if result.error is not None] == ["broken"]
    assert "broken.toml:2:" in str(results["broken"].error)
    [globbed] = store.load_all([tmp_path / "dee*/*.toml"])
    assert globbed.name == "alone"


def test_a_definition_beside_a_document_has_to_be_one(store: Store, tmp_path: Path) -> None:
    (tmp_path / "game.json").write_text(generate(read_definition(TINY)).canonical(), encoding="utf-8")
    (tmp_path / "game.toml").write_text(TINY.replace('"R"', '"ZZ?"'), encoding="utf-8")
    with pytest.raises(DocumentError, match=r"pieces\.R\.betza"):
        store.load(tmp_path / "game.json")
    assert store.list() == ()


def test_a_file_that_only_tells_of_a_document_is_no_game(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    path.write_text('title = "A game"\nboard = "8x8"', encoding="utf-8")
    with pytest.raises(InputError, match=r"says something of a document beside it, .*: name the document"):
        store.load(path)


def test_a_game_is_of_one_dialect(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "game.toml"
    path.write_text(TINY, encoding="utf-8")
    assert store.load(path, dialect="diff").number == 1
    with pytest.raises(InputError, match="the document of this game is of the dialect diff, not perform"):
        store.load(path, dialect="perform")


# --- large games ---


@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_the_largest_games_of_the_library_are_loaded_and_sound(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    largest = sorted(map(library.index().__getitem__, library.names()), key=lambda game: game.possibilities)[-3:]
    with new_store(database, tmp_path, request) as store:
        for game in largest:
            store.load(library.read_game(game.name), game.name)
        counts = {summary.revision.name: summary.counts["possibilities"] for summary in store.list()}
        assert counts == {game.name: game.possibilities for game in largest}
