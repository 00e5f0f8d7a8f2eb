"""Legal moves of random documents: both queries on both databases, and perft, against the meaning in plain Python.

A move leaves a royal piece attacked if on the board after it a piece of the enemy has a possibility that holds and
changes the royal piece's square. The other duties that are tried here are about nothing else.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from ggn_store import Move, Position, Store, parse
from ggn_store.api.moves.moves import QUERIES
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Duty, Play
from ggn_store.store.moves import lead
from tests.oracles import reference
from tests.support.databases import mostly_sqlite

# Documents in whose positions each duty that the dialect can have forbids something that nothing else forbids. Few
# others than the last two would notice if their guards and states were judged wrong. (No piece of `perform` is royal.)
TELLING = {
    "must-deny": (1, 13, 25, 276),
    "diff": (116, 159, 259, 282),
    "gdl": (63, 129, 152, 205, 55, 130),
}
ROYAL = tuple(TELLING)
DOCUMENTS = int(os.environ.get("GGN_LEGAL_DOCUMENTS", "300"))
OTHERS = ("duple-check", "spare-royal", "no-checks", "no-drop-checks", "mandatory-drop")
PIECES = ("C:K^", "c:k^", "C:R", "c:r")
SQUARES = ("a1", "a2", "b1", "b2", "c1", "c2")
STATES = ("empty", "enemy", *PIECES)
VALUES = ("3", "4")


class Game:
    """A random document whose pieces threaten each other on four squares, with duties, and positions."""

    def __init__(self, dialect: str, seed: int) -> None:
        self._dialect = dialect
        self._chance = random.Random(f"{dialect} {seed}")
        self._squares = self._chance.sample(SQUARES, 4)
        self._is_plain = self._chance.random() < 0.5  # moves change two squares, as those of most games do
        self._sets_state = self.has_state and self._chance.random() < 0.5
        self.document: dict[str, Any] = (
            {"$state": {"ep": {"values": [*VALUES], "initial": "3"}}} if self.has_state else {}
        )
        self.document |= {piece: self._sources(piece) for piece in PIECES}
        others = self._chance.sample(OTHERS, self._chance.choice((0, 0, 1, 2)))
        if seed % 5 in (1, 2):
            others.append("no-promotion-checks")
        self.duties = frozenset((*others, *self._chance.choice((("royal-safety",),) * 4 + ((),))))

    @property
    def has_state(self) -> bool:
        return self._dialect == "gdl"

    def position(self) -> Position:
        chance = self._chance
        board = {square: chance.choice((None, *PIECES)) for square in self._squares}
        hands = chance.choice((None, {}, {"C:R": 1, "c:r": 1}, {"C:K^": 1, "c:k^": 2, "c:r": 1}))
        state = {"ep": chance.choice(VALUES)} if self.has_state else None
        return Position(board, hands, chance.choice(("first", "second")), state=state)

    def _sources(self, piece: str) -> dict[str, Any]:
        chance, found = self._chance, {}
        for source in chance.sample(("*", *self._squares), 4):
            destinations = chance.sample([square for square in self._squares if square != source], 2)
            found[source] = {to: [self._possibility(piece, source, to)] for to in destinations}
        return found

    def _possibility(self, piece: str, source: str, destination: str) -> dict[str, Any]:
        chance = self._chance
        others = [square for square in self._squares if square not in (source, destination)]
        must = {destination: chance.choice(("enemy", "enemy", *STATES))} if chance.random() < 0.7 else {}
        deny = {}
        if chance.random() < 0.4:
            must[chance.choice(others)] = chance.choice(STATES)
        if chance.random() < 0.4:
            square = chance.choice((*others, destination))
            deny[square] = chance.choice([state for state in STATES if state != must.get(square)])
        found: dict[str, Any] = {"must": must, "deny": deny}
        if self._dialect != "must-deny":
            found["diff"] = self._diff(piece, source, destination, others)
        if self.has_state:
            found["when"] = {"ep": [chance.choice(VALUES)]} if chance.random() < 0.6 else {}
        return found

    def _diff(self, piece: str, source: str, destination: str, others: list[str]) -> dict[str, Any]:
        chance = self._chance
        board: dict[str, str | None] = {} if source == reference.HAND else {source: None}
        board[destination] = piece if self._is_plain or chance.random() < 0.7 else chance.choice(PIECES)
        if not self._is_plain and chance.random() < 0.5:
            board[chance.choice(others)] = chance.choice((None, *PIECES))
        hands = {piece: -1} if source == reference.HAND else {"C:R": -1} if chance.random() < 0.1 else {}
        found = {"board": board, "hands": hands, "toggle": chance.random() < 0.9}
        return found | ({"state": {"ep": chance.choice(VALUES)}} if self._sets_state and chance.random() < 0.5 else {})


@dataclass(frozen=True)
class Meaning:
    """The duties of a document whose state variables begin with the values that they have."""

    document: dict[str, Any]
    duties: frozenset[str]

    @property
    def assume(self) -> Literal["displacement"] | None:
        return "displacement" if reference.detect(self.document) == "must-deny" else None

    def legal(self, board: reference.Board, hands: reference.Hands, side: str) -> list[reference.Key]:
        keys = reference.moves(self.document, board, hands, side)
        found = [key for key in keys if self._allows(key, board, side)]
        drops = [key for key in found if key[1] == reference.HAND]
        return drops or found if "mandatory-drop" in self.duties else found

    def perft(self, board: reference.Board, hands: reference.Hands, side: str, depth: int) -> int:
        """The paths of so many moves."""
        if depth == 0:
            return 1
        keys = self.legal(board, hands, side)
        after = (reference.apply(self.document, *key, board, hands, side, self.assume) for key in keys)
        return sum(self.perft(*each, depth - 1) for each in after)

    def in_check(self, board: reference.Board, side: str) -> bool:
        royal = royals(board, side)
        if "spare-royal" in self.duties and len(royal) > 1:
            return False
        attacked = [self.attacked(board, square, side) for square in royal]
        return all(attacked) if "duple-check" in self.duties and len(royal) > 1 else any(attacked)

    def attacked(self, board: reference.Board, target: str, side: str) -> bool:
        """Whether an enemy of a side on the board could change a square other than its own."""
        return any(
            source != reference.HAND
            and source != target
            and board.get(source) == piece
            and target in self._changes((piece, source, destination, ordinal))
            and reference.permitted(possibility, board, reference.other(side))
            and reference.guarded(possibility, self.document)
            for piece, source, destination, ordinal, possibility in reference.possibilities(self.document)
            if reference.side_of(piece) != side
        )

    def _allows(self, key: reference.Key, board: reference.Board, side: str) -> bool:
        piece, source, destination, ordinal = key
        after = {**board, **self._changes(key)}
        later = replace(self, document=reference.in_state(self.document, reference.state_after(self.document, *key)))
        must, _ = reference.conditions(self.document[piece][source][destination][ordinal])
        enters = source == reference.HAND and must.get(destination, "empty") != "empty"
        boards = [after, {**after, destination: None}] if enters else [after]
        if "royal-safety" in self.duties and any(later.in_check(each, side) for each in boards):
            return False
        becomes = self._changes(key).get(destination)
        asked = {"no-checks", *({"no-drop-checks"} if source == reference.HAND else ())}
        # The four pieces are of one kind and side where they begin alike.
        if source != reference.HAND and becomes is not None and becomes[:3] != piece[:3]:
            asked.add("no-promotion-checks")
        if self.duties & asked:
            other = reference.other(side)
            return not any(later.attacked(after, square, other) for square in royals(after, other))
        return True

    def _changes(self, key: reference.Key) -> dict[str, str | None]:
        return reference.effects(self.document, *key, self.assume)[0]


def royals(board: reference.Board, side: str) -> list[str]:
    return [square for square, piece in board.items() if piece and "^" in piece and reference.side_of(piece) == side]


def compare(store: Store, dialect: str, seeds: Iterable[int], positions: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in seeds:
        game = Game(dialect, seed)
        document = parse(json.dumps(game.document))
        declared = play_text.text(Play(tuple(map(Duty, game.duties))))
        store.load(replace(document, envelope=replace(document.envelope, play=declared)), name=dialect)
        rules = store.ruleset(dialect)
        asked = [game.position() for _ in range(positions)]
        expected = []
        for position in asked:
            board, side = position.board, position.side
            meaning = Meaning(reference.in_state(game.document, position.state or {}), game.duties)
            expected.append(meaning.legal(board, position.hands, side))
            seen["moves"] += len(expected[-1])
            seen["forbidden"] += len(reference.moves(meaning.document, board, position.hands, side)) - len(expected[-1])
            for query in QUERIES:
                assert [*map(key, rules.legal_moves(position, query=query))] == expected[-1], (seed, query, position)
            assert rules.in_check(position) == meaning.in_check(board, side), (seed, position)
        found = rules.moves_batch(asked, legal=True)
        assert [[*map(key, moves)] for moves in found] == expected, seed
        if rules.columns.judges:
            seen["on columns"] += 1
            columns = rules.moves_batch(asked, legal=True, query="columns")
            assert [[*map(key, moves)] for moves in columns] == expected, (seed, game.duties)
        assert list(rules.count_moves(asked, legal=True).values()) == [len(each) for each in expected], seed
        if not game.has_state:
            meaning = Meaning(game.document, game.duties)
            for position in [replace(each, hands=None) for each in asked[:2]]:
                count = rules.perft(position, 2, legal=True, assume=meaning.assume).count
                assert count == meaning.perft(position.board, None, position.side, 2), (seed, position)
    return seen


@pytest.fixture(autouse=True)
def engines_make_every_ply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lead, "POSITIONS", 0)


def key(move: Move) -> reference.Key:
    return move.piece, move.source, move.destination, move.ordinal


@mostly_sqlite
@pytest.mark.parametrize("dialect", ROYAL)
def test_random_documents_have_the_legal_moves_of_plain_python(store: Store, dialect: str) -> None:
    seen = compare(store, dialect, TELLING[dialect], 8)
    assert seen["moves"] > seen["forbidden"] > 15


@pytest.mark.long
@pytest.mark.parametrize("dialect", ROYAL)
def test_many_random_documents_have_the_legal_moves_of_plain_python(store: Store, dialect: str) -> None:
    compare(store, dialect, range(DOCUMENTS), 10)


# The moves take two pawns from a hand that has one; the drop gives check.
TAKES_TWO = {
    "C:R": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:R"}, "hands": {"C:P": -2}}}]}},
    "C:P": {
        "*": {"a2": [{"diff": {"board": {"a2": "C:P"}, "hands": {"C:P": -2}}}]},
        "a2": {"a3": [{"must": {"a3": "enemy"}, "diff": {"board": {"a2": None, "a3": "C:P"}}}]},
    },
}


@pytest.mark.parametrize(
    ("duty", "expected"),
    [("no-checks", ["a1"]), ("no-drop-checks", ["a1"]), ("no-drop-mate", ["a1", "*"])],
)
def test_moves_that_take_more_than_a_hand_has_are_judged_by_the_board(
    store: Store, duty: str, expected: list[str]
) -> None:
    document = parse(json.dumps(TAKES_TWO))
    pieces = ("C:P",) if duty == "no-drop-mate" else ()
    declared = play_text.text(Play((Duty(duty, pieces),)))
    store.load(replace(document, envelope=replace(document.envelope, play=declared)), name="two")
    rules = store.ruleset("two")
    position = Position({"a1": "C:R", "a3": "c:k^"}, {"C:P": 1})
    assert [move.source for move in rules.legal_moves(position)] == expected
