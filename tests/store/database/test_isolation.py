"""Questions and loads that must not meet: positions one after the other, threads, and what is broken off."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Connection

import ggn_store
from ggn_store import Ruleset, Store
from ggn_store.store.database import sqlite
from ggn_store.store.moves import reading
from ggn_store.store.moves.fast import FastQuery
from tests.support.stored import BOARD, DIFF, MUST_DENY, Json, answers, counts, text_of
from tests.support.stored import shared as shared


def test_a_position_leaves_nothing_for_the_next(shared: Store) -> None:
    game = shared.ruleset("game")
    full = {"e2": "C:P", "d3": "c:r", "e3": "c:r"}
    assert answers(game.moves(full, piece="C:P")) == [("C:P", "e2", "d3", 0)]
    assert answers(game.moves({"e2": "C:P"}, piece="C:P")) == [("C:P", "e2", "e3", 0)]
    assert game.moves({}, piece="C:P") == []
    held = ggn_store.Position({"e2": "C:P"}, hands={"C:+K^'": 2})
    king = [("C:+K^'", "*", "d3", 0), ("C:+K^'", "*", "d3", 1)]
    assert answers(game.moves(held)) == [("C:P", "e2", "e3", 0), *king]
    assert answers(game.moves(replace(held, hands={}))) == [("C:P", "e2", "e3", 0)]
    assert answers(game.moves(replace(held, hands=None, board={}))) == king
    batch = game.moves_batch([full, {}, held, full])
    assert [answers(each) for each in batch] == [
        [("C:P", "e2", "d3", 0), *king],
        king,
        [("C:P", "e2", "e3", 0), *king],
        [("C:P", "e2", "d3", 0), *king],
    ]
    assert answers(game.moves(full)) == [("C:P", "e2", "d3", 0), *king]


def positions_and_answers(rules: Ruleset) -> list[tuple[Json, list[ggn_store.Move]]]:
    """A few positions, each with an answer that none of the others has."""
    positions: list[Json] = [{"e2": "C:P"}, BOARD, {"e2": "C:P", "e3": "c:r", "d3": "c:n"}, {"d3": "c:r", "d1": "C:P"}]
    known = [(position, rules.moves(position, piece=None)) for position in positions]
    assert [answers(found) for _, found in known] == [
        [("C:P", "e2", "e3", 0)],
        [("C:P", "e2", "e3", 0), ("C:P", "e2", "d3", 0)],
        [("C:P", "e2", "d3", 0)],
        [],
    ]
    return known


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made otherwise there")
def test_processes_that_are_forked_use_connections_of_their_own(store: Store) -> None:
    store.load(WITHOUT_DROPS, "game")
    game = store.ruleset("game")
    known = positions_and_answers(game)  # of which the connection is idle when the processes begin

    def ask(number: int) -> None:
        position, expected = known[number]
        for _ in range(20):
            assert game.moves(position, piece=None) == expected
            assert [each.revision.name for each in store.list()] == ["game"]

    forking = multiprocessing.get_context("fork")
    processes = [forking.Process(target=ask, args=(number,)) for number in range(len(known))]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        process.kill()
    assert [process.exitcode for process in processes] == [0] * len(known)
    ask(0)


def test_a_store_is_not_pickled_and_says_so(store: Store) -> None:
    store.load(DIFF, "game")
    for each in (store, store.ruleset("game")):
        with pytest.raises(TypeError, match="a store is not pickled, as it holds connections: open it again in the"):
            pickle.dumps(each)


def check_threads(rules: Ruleset, rounds: int) -> None:
    """Let threads ask at once, each about another position than the others, and each time about another one."""
    known = positions_and_answers(rules)
    together = threading.Barrier(len(known))
    wrong: list[object] = []

    def ask(index: int) -> None:
        try:
            for turn in range(rounds):
                together.wait()
                position, expected = known[(index + turn) % len(known)]
                found = rules.moves(position)
                if found != expected:
                    wrong.append((position, found))
        except Exception as error:
            together.abort()
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=[index]) for index in range(len(known))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WITHOUT_DROPS = {piece: DIFF[piece] for piece in ("C:P", "c:r")}


def test_threads_with_different_positions_on_one_store_do_not_meet(store: Store) -> None:
    store.load(WITHOUT_DROPS, "game")
    check_threads(store.ruleset("game"), 25)


def test_threads_with_different_positions_on_one_store_in_memory_do_not_meet() -> None:
    check_threads(ggn_store.ruleset(WITHOUT_DROPS), 50)


def test_threads_can_make_rulesets_of_their_own_at_once() -> None:
    together = threading.Barrier(4)
    wrong: list[object] = []

    def make(index: int) -> None:
        try:
            for _ in range(5):
                together.wait()
                rules = ggn_store.ruleset({"C:P": {"e2": {f"e{index + 3}": [{}]}}})
                assert answers(rules.moves({"e2": "C:P"})) == [("C:P", "e2", f"e{index + 3}", 0)]
        except Exception as error:
            together.abort()
            wrong.append(error)

    threads = [threading.Thread(target=make, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt])
def test_a_question_that_is_broken_off_leaves_nothing_for_the_next(
    shared: Store, monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException]
) -> None:
    game = shared.ruleset("game")
    for rules in (game, ggn_store.ruleset(DIFF)):
        expected = rules.moves(BOARD)

        def break_off(*_: object) -> None:
            raise interruption

        for module, function in ((reading, "reading_query"), (reading, "read_details")):
            with monkeypatch.context() as patch:
                patch.setattr(module, function, break_off)
                with pytest.raises(interruption):
                    rules.moves({"e2": "C:P", "e3": "C:P"}, query="reading")
            assert rules.moves(BOARD, query="reading") == expected
        for owner, method in ((type(rules.handle.session.database), "_run"), (FastQuery, "_read")):
            fresh = ggn_store.ruleset(DIFF) if rules is not game else shared.ruleset("game")
            with monkeypatch.context() as patch:
                patch.setattr(owner, method, break_off)
                with pytest.raises(interruption):
                    fresh.moves(BOARD)
            assert fresh.moves(BOARD) == expected


def test_a_ruleset_in_memory_survives_an_interrupt_within_a_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = ggn_store.ruleset(DIFF)
    expected = rules.moves(BOARD)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    database = rules.handle.session.database
    for thing, method in ((database.engine.dialect, "do_execute"), (database, "fill")):
        with monkeypatch.context() as patch:
            patch.setattr(thing, method, interrupt)
            with pytest.raises(KeyboardInterrupt):
                rules.moves({"e2": "C:P"}, query="reading")
        assert rules.moves(BOARD) == rules.moves(BOARD, query="reading") == expected


def test_a_load_that_is_broken_off_leaves_nothing(store: Store, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store.load(DIFF, "game")
    assert store.upkeep.check() == []  # which remembers what it has found sound
    before = counts(address)
    larger = DIFF | {"C:Q": {"h1": {"h9": [{"must": {"h8": "empty"}, "diff": {"hands": {"C:Q": 1}}}]}}}
    filled: Counter[str] = Counter()
    fill = store.session.database.fill

    for last in ("square", "condition", "hand_effect", "lane", "revision_piece"):

        def fill_and_break(connection: Connection, columns: Any, rows: Any, last: str = last) -> None:
            columns = list(columns)
            fill(connection, columns, rows)
            filled[columns[0].table.name] += 1
            if columns[0].table.name == last:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(store.session.database, "fill", fill_and_break)
            with pytest.raises(KeyboardInterrupt):
                store.load(larger, "b")
        assert filled[last] > 0
        assert counts(address) == before
        assert store.upkeep.check() == []
    assert [summary.revision.name for summary in store.list()] == ["game"]


def test_a_slow_reader_of_an_export_keeps_nobody_from_writing(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 1)
    with Store.open(address) as store:
        store.load(DIFF, "game")
        parts = []
        for part in store.ruleset("game").export_parts():
            parts.append(part)
            store.load(MUST_DENY | {"C:Q": {"e2": {"e3": [{}] * len(parts)}}}, "other")
        assert "".join(parts) == text_of(DIFF)


@pytest.mark.parametrize(
    "ask",
    [
        Ruleset.document,
        Ruleset.export,
        Ruleset.summary,
        Ruleset.piece_summaries,
        lambda rules: rules.board,
        lambda rules: rules.pieces,
        lambda rules: rules.moves(BOARD),
        lambda rules: rules.moves(BOARD, piece="C:P", source="e2", destination="e3"),
        lambda rules: rules.explain([ggn_store.Position(BOARD)]),
        lambda rules: rules.select("C:P").from_("e2").to("e3").where(BOARD),
        lambda rules: [rules.moves(BOARD) for _ in rules.export_parts()],
    ],
)
def test_a_ruleset_in_memory_answers_whatever_it_is_asked_first(
    ask: Callable[[Ruleset], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A store in memory has one connection: a question within a question would wait for itself.
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 1)
    assert ask(ggn_store.ruleset(DIFF))
