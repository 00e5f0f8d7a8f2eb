"""Collecting what nothing refers to, also while others load."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from ggn_store import Store, parse
from ggn_store.model.documents.layout import PLAIN
from ggn_store.model.teams.care import Collected
from ggn_store.model.teams.revision import Revision
from ggn_store.store.rulesets import load
from ggn_store.store.schema import tables as t
from ggn_store.store.upkeep import collect
from tests.support.loader import PIECES, Worker, canonical, contents, document, load_command, store_unlisted
from tests.support.postgres import Server
from tests.support.program import Command, Result, on_terminal
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.stored import KNIGHT, ROOK

NOTHING = "nothing to remove: everything is in use\n"
# The knight of KNIGHT on its board: one row in piece, its summary and facts, source, destination, variant, condition,
# lane, two effects.
KNIGHT_ROWS = 10


def pieces(store: Store) -> set[str]:
    with store.session.database.reading() as connection:
        return set(connection.execute(text("SELECT digest FROM piece")).scalars())


def rows(store: Store) -> int:
    """The rows of all tables but the audit."""
    with store.session.database.reading() as connection:
        tables = [each.name for each in t.metadata.sorted_tables if each.name != "audit"]
        return sum(connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one() for name in tables)


def store_unlisted_document(store: Store, rules: dict[str, Any]) -> None:
    parsed, database = parse(rules), store.session.database
    with database.writing() as connection:
        load._pieces(database, connection, parsed, load.store_board(database, connection, parsed.board), PLAIN)


def found(collected: Collected) -> list[tuple[str, str | None, int]]:
    return [(each.kind, each.name, each.rows) for each in collected.unused]


def test_nothing_of_a_sound_store_is_removed(store: Store) -> None:
    for rules in (KNIGHT, ROOK):
        store.load(rules, "game")
    store.load(ROOK, "hidden")
    store.load(KNIGHT, "hidden")
    store.delete("hidden")
    before = rows(store)
    assert store.upkeep.collect(dry_run=True).unused == store.upkeep.collect().unused == ()
    assert rows(store) == before
    assert store.load(KNIGHT, "hidden").status == "restored"
    assert store.upkeep.verify().problems == ()


def test_what_nothing_lists_is_removed_with_all_its_rows(store: Store) -> None:
    store.load(ROOK, "game")
    before = rows(store)
    store_unlisted_document(store, KNIGHT)  # on a board of its own: b1..c3 in two files and three ranks
    with store.session.database.writing() as connection:
        connection.execute(text("INSERT INTO ruleset (name) VALUES ('empty')"))
    squares = len(parse(KNIGHT).board.squares)
    expected = [
        ("piece", "C:N", KNIGHT_ROWS),
        ("board", parse(KNIGHT).board.shape_text, 1 + squares),
        ("ruleset", "empty", 1),
    ]
    assert rows(store) == before + KNIGHT_ROWS + 1 + squares + 1
    assert found(store.upkeep.collect(dry_run=True)) == expected
    assert rows(store) == before + KNIGHT_ROWS + 1 + squares + 1
    collected = store.upkeep.collect()
    assert found(collected) == expected
    assert collected.rows == KNIGHT_ROWS + 1 + squares + 1
    assert rows(store) == before
    assert store.upkeep.verify().problems == ()
    removed = [(event.subject, event.detail.get("piece")) for event in store.upkeep.audit(only=["gc"])]
    assert removed == [(None, "C:N"), ("empty", None)]
    assert store.load(KNIGHT, "game").number == 2


def test_a_board_stays_as_long_as_a_revision_or_a_listed_piece_is_on_it(store: Store) -> None:
    store.load(document(0), "game")
    store_unlisted(store, [2])  # the same board, and some of the same pieces
    assert {each.kind for each in store.upkeep.collect(dry_run=True).unused} == {"piece"}
    assert {each.digest for each in store.upkeep.collect().unused} == set(parse(document(2)).piece_digests) - set(
        parse(document(0)).piece_digests
    )
    assert contents(store) == {"game": [0]}


def test_every_table_that_refers_to_something_keeps_it() -> None:
    def named(table: Any) -> set[str]:
        return {str(column) for column in collect.references(table)}

    assert named(t.piece) >= {"revision_piece.piece_id"}
    assert not named(t.piece) & {f"{table.name}.piece_id" for table in t.PIECE_TABLES}
    assert named(t.board) >= {"piece.board_id", "revision.board_id"}
    assert "square.board_id" not in named(t.board)
    assert named(t.ruleset) >= {"revision.ruleset_id", "tag.ruleset_id", "ruleset_state.ruleset_id"}


def test_it_goes_on_in_transactions_of_a_few_pieces(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "_ROWS_A_BATCH", 1)
    store_unlisted(store, [0])
    begun = []
    writing = store.session.writing

    def counted() -> Any:
        begun.append(pieces(store))
        return writing()

    monkeypatch.setattr(store.session, "writing", counted)
    store.upkeep.collect()
    # One for each piece, one that finds no more, one for boards and rulesets.
    assert [len(each) for each in begun] == [4, 3, 2, 1, 0]
    assert rows(store) == 0


def test_a_collection_that_fails_midway_keeps_what_was_done(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "_ROWS_A_BATCH", 1)
    store.load(document(0), "game")
    store_unlisted(store, [5])
    before = len(pieces(store))

    def stop_at_the_second(what: str, seen: list[str] = []) -> None:  # noqa: B006
        seen.append(what)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.upkeep.collect(progress=stop_at_the_second)
    assert len(pieces(store)) == before - 1
    assert contents(store) == {"game": [0]}
    store.upkeep.collect()
    assert pieces(store) == set(parse(document(0)).piece_digests)


# --- beside others who load ---


def wait_for_a_lock(address: str, done: Callable[[], bool]) -> None:
    """Return when somebody waits for a lock of the database, or it is `done`."""
    with psycopg.connect(address, autocommit=True) as watcher:
        waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while not done() and watcher.execute(waiting).fetchone() is None:
            pass


def test_a_load_that_has_found_an_unlisted_piece_keeps_it(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store, Store.open(address) as other, ThreadPoolExecutor(1) as thread:
        store_unlisted(store, [0])
        fill = store.session.database.fill
        collected: list[Future[Collected]] = []

        def fill_after_the_collection_came(connection: Any, columns: Any, rows: Any) -> None:
            columns = list(columns)
            if columns[0].table.name == "revision_piece":
                collected.append(thread.submit(other.upkeep.collect))
                wait_for_a_lock(address, collected[0].done)
                assert not collected[0].done()
            fill(connection, columns, rows)

        monkeypatch.setattr(store.session.database, "fill", fill_after_the_collection_came)
        assert store.load(document(0), "game").status == "new"
        assert collected[0].result().unused == ()
        assert contents(store) == {"game": [0]}
    postgres_server.drop_database(address)


def test_a_load_that_has_found_an_unused_board_keeps_it(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store, Store.open(address) as other, ThreadPoolExecutor(1) as thread:
        store_unlisted(store, [0])
        with store.session.database.writing() as connection:
            connection.execute(text("DELETE FROM lane"))
            for table in reversed((*t.PIECE_TABLES, *t.ABOUT_PIECES)):
                connection.execute(table.delete())
            connection.execute(text("DELETE FROM piece"))
        store_board = load.store_board
        collected: list[Future[Collected]] = []

        def then_let_the_collection_come(*arguments: Any) -> int:
            found = store_board(*arguments)
            collected.append(thread.submit(other.upkeep.collect))
            wait_for_a_lock(address, collected[0].done)
            assert not collected[0].done()
            return found

        monkeypatch.setattr(load, "store_board", then_let_the_collection_come)
        assert store.load(document(0), "game").status == "new"
        assert collected[0].result().unused == ()
        assert contents(store) == {"game": [0]}
    postgres_server.drop_database(address)


def test_a_load_that_comes_during_a_collection_stores_anew_what_that_removes(postgres_server: Server) -> None:
    address = postgres_server.create_store()
    with Store.open(address) as store, Store.open(address) as other, ThreadPoolExecutor(1) as thread:
        store_unlisted(store, [0])
        loaded: list[Future[Revision]] = []

        def let_the_load_come(what: str) -> None:
            if what == f"piece {PIECES[3]}":
                loaded.append(thread.submit(other.load, document(0), "game"))
                wait_for_a_lock(address, loaded[0].done)
                assert not loaded[0].done()

        assert store.upkeep.collect(progress=let_the_load_come).count("piece") == 4
        assert loaded[0].result().status == "new"
        assert contents(store) == {"game": [0]}
    postgres_server.drop_database(address)


def crowd(address: str, rounds: int, many: int, others: int) -> None:
    """Let so many processes load what is there unlisted while others collect it."""
    with Store.open(address) as store, ExitStack() as stack:
        loaders, collectors = ([stack.enter_context(Worker()) for _ in range(count)] for count in (many, others))
        for worker in (*loaders, *collectors):
            worker.answer()
            worker.ask(do="open", address=address)
        for turn in range(rounds):
            numbers = range(turn * many, (turn + 1) * many)
            store_unlisted(store, numbers)
            for worker, number in zip(loaders, numbers, strict=True):
                worker.send(load_command("same", number), load_command(f"own/{number % many}", number))
            for worker in collectors:
                worker.send({"do": "gc"}, {"do": "gc"})
            answers = [worker.answer() for worker in (*loaders, *collectors) for _ in range(2)]
            assert [answer for answer in answers if "error" in answer] == []
        found = contents(store)
        assert sorted(found.pop("same")) == list(range(many * rounds))
        assert found == {f"own/{index}": list(range(index, many * rounds, many)) for index in range(many)}
        needed = {digest for number in range(many * rounds) for digest in parse(document(number)).piece_digests}
        assert pieces(store) == needed


def test_processes_that_load_and_processes_that_collect_do_each_other_no_harm(address: str) -> None:
    crowd(address, 1, 2, 1)


@pytest.mark.long
def test_processes_that_load_and_collect_for_long_do_each_other_no_harm(address: str) -> None:
    crowd(address, 60, 4, 2)


# --- the command ---


def test_the_command_lists_and_removes(ggn: Command, address: str) -> None:
    assert ggn("gc") == ggn("gc", "--dry-run") == Result(0, NOTHING, "")
    with Store.open(address) as store:
        store_unlisted_document(store, KNIGHT)
    board = parse(KNIGHT).board
    digest, count = parse(KNIGHT).piece_digests[0], KNIGHT_ROWS + 1 + len(board.squares)
    dry = ggn("gc", "--dry-run")
    assert (dry.code, dry.out.splitlines()) == (
        0,
        [
            f"piece  C:N  sha256:{digest[:12]}  {KNIGHT_ROWS} rows",
            f"board  {board.shape_text}  sha256:{board.digest[:12]}  {1 + len(board.squares)} rows",
            f"would remove 1 piece, 1 board: {count} rows",
        ],
    )
    data = json.loads(ggn("gc", "--dry-run", "--format", "json").out)
    assert (data["dry_run"], data["pieces"], data["boards"], data["rulesets"], data["rows"]) == (True, 1, 1, 0, count)
    assert ggn("gc").out == f"removed 1 piece, 1 board: {count} rows\n"
    assert ggn("gc").out == NOTHING
    assert ggn("gc", "--dry-run", "--vacuum").code == 2


def test_a_file_is_made_smaller_on_request(run: Callable[..., Result], tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store.load(document(0), "game")
        store_unlisted(store, range(100, 130))
    before = path.stat().st_size
    done = run("--db", path, "gc")
    assert done.err.endswith(" bytes of the file are free for what comes next; --vacuum gives them back\n")
    assert path.stat().st_size == before
    assert run("--db", path, "gc", "--vacuum") == Result(0, NOTHING, "")
    assert path.stat().st_size < before / 2
    with Store.open(str(path)) as store:
        assert contents(store) == {"game": [0]}
        assert store.ruleset("game").export() == canonical(0)


def test_a_server_has_no_file_to_make_smaller(postgres_server: Server, run: Callable[..., Result]) -> None:
    address = postgres_server.create_store()
    with Store.open(address):
        pass
    done = run("--db", address, "gc", "--vacuum")
    assert done.code == 1
    assert "autovacuum" in done.err
    postgres_server.drop_database(address)


def test_a_terminal_is_shown_what_is_being_removed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(str(path)) as store:
        store_unlisted(store, [0])
    shown = on_terminal("--db", path, "gc").out
    assert "removing board 4x4 " in shown
    assert "5/?" in shown
    assert "removed 4 pieces, 1 board: " in shown
