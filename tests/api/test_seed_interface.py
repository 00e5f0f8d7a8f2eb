"""The interface of seed 003, Ggn.rb, in Python's words: whatever it offers is here too."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest

import ggn_store
from ggn_store import DocumentError, GgnStoreError, Move, Position
from tests.support.seeds import SEED_003

QUICK_START = json.loads(SEED_003["quick-start"])
# A rook of the first and a king of the second player, a pawn with two promotions, and castling: for the questions
# that the seed asks of a game.
GAME: Mapping[str, Any] = {
    "C:R": {
        "a1": {
            "a2": [{"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}],
            "b1": [{"must": {"b1": "enemy"}, "diff": {"board": {"a1": None, "b1": "C:R"}, "hands": {"c:r": 1}}}],
        }
    },
    **json.loads(SEED_003["promotion-choices"]),
    **json.loads(SEED_003["castling"]),
    "c:k": {"e8": {"e7": [{"must": {"e7": "enemy"}, "diff": {"board": {"e8": None, "e7": "c:k"}, "toggle": False}}]}},
}


def test_the_quick_start_of_seed_003_is_as_short_here(capsys: pytest.CaptureFixture[str]) -> None:
    ruleset = ggn_store.ruleset(QUICK_START)
    engine = ruleset.select("C:P").from_("e2").to("e4")
    transitions = engine.where({"e2": "C:P", "e3": None, "e4": None})
    if transitions:
        print("Move is possible!")
        for transition in transitions:
            print(f"State changes: {transition.effects}")
    assert capsys.readouterr().out == 'Move is possible!\nState changes: {"board":{"e2":null,"e4":"C:P"}}\n'


def test_parse_and_valid_of_seed_003_take_decoded_data() -> None:
    assert ggn_store.is_valid(QUICK_START)
    assert not ggn_store.is_valid({"C:P": {"e2": {"e4": [{"must": {}, "deny": {}, "diff": {"bord": {}}}]}}})
    assert ggn_store.parse(QUICK_START).dialect == "diff"
    # "Validate data before parsing."
    with pytest.raises(DocumentError):
        ggn_store.ruleset({"C:P": {"e2": {"e4": []}}})


def test_the_navigation_chain_of_seed_003_goes_from_piece_to_moves() -> None:
    ruleset = ggn_store.ruleset(GAME)
    assert list(ruleset.pieces) == ["C:R", "C:P", "C:+K", "c:k"]
    source = ruleset.select("C:R")
    assert list(source.sources) == ["a1"]
    destination = source.from_("a1")
    assert list(destination.destinations) == ["a2", "b1"]
    board = {"a1": "C:R", "b1": "c:r"}
    assert [move.destination for move in ruleset.moves(board)] == ["a2", "b1"]
    assert [destination.to(square).where(board) for square in ("a2", "b1")] == [[move] for move in ruleset.moves(board)]
    # One engine answers for as many boards as it is asked.
    engine = destination.to("b1")
    assert [len(engine.where(each)) for each in ({}, board, {"a1": "C:R"}, {"a1": "C:R", "b1": "C:R"}, board)] == [
        *(0, 1, 0, 0, 1)
    ]


def test_pseudo_legal_transitions_of_seed_003_are_the_moves_by_piece_source_and_destination() -> None:
    ruleset = ggn_store.ruleset(GAME)
    board = {"a1": "C:R", "e7": "C:P", "e1": "C:+K", "h1": "C:+R", "b1": "c:r", "e8": None, "f1": None, "g1": None}
    found = [
        (*entry, [move.effects.board for move in moves if move.has_effects])
        for entry, moves in itertools.groupby(
            ruleset.moves(board), key=lambda move: (move.piece, move.source, move.destination)
        )
    ]
    assert found == [
        ("C:R", "a1", "a2", [{"a1": None, "a2": "C:R"}]),
        ("C:R", "a1", "b1", [{"a1": None, "b1": "C:R"}]),
        ("C:P", "e7", "e8", [{"e7": None, "e8": "C:Q"}, {"e7": None, "e8": "C:N"}]),
        ("C:+K", "e1", "g1", [{"e1": None, "f1": "C:R", "g1": "C:K", "h1": None}]),
    ]
    # Its filters: one piece, "captures" (in its words, more than one square filled), promotions.
    assert [move.piece for move in ruleset.moves(board, piece="C:+K")] == ["C:+K"]
    assert [piece for piece, _, _, boards in found if any(len(set(each.values()) - {None}) > 1 for each in boards)] == [
        "C:+K"
    ]
    assert [piece for piece, _, _, boards in found if len(boards) > 1] == ["C:P"]


def test_a_transition_of_seed_003_is_the_effects_of_a_move() -> None:
    ruleset = ggn_store.ruleset(GAME)
    [capture] = ruleset.select("C:R").from_("a1").to("b1").where({"a1": "C:R", "b1": "c:r"})
    assert capture.effects is not None
    assert capture.effects.board == {"a1": None, "b1": "C:R"}
    assert capture.effects.hands == {"c:r": 1}
    assert capture.effects.toggle is True
    [king] = ruleset.select("c:k").from_("e8").to("e7").where({"e8": "c:k", "e7": "C:P"})
    assert king.effects is not None
    assert (king.effects.hands, king.effects.toggle) == ({}, False)
    position = Position({"e8": "c:k", "e7": "C:P"}, side="second")
    assert ruleset.apply(position, king) == Position({"e7": "c:k"}, side="second")


def test_unknown_names_raise_a_key_error_seed_003() -> None:
    ruleset = ggn_store.ruleset(QUICK_START)
    source = ruleset.select("C:P")
    destination = source.from_("e2")
    for ask, name in (
        (ruleset.select, "INVALID:X"),
        (ruleset.select, "c:p"),
        (ruleset.select, ""),
        (source.from_, "invalid_square"),
        (source.from_, "e4"),
        (source.from_, "*"),
        (destination.to, "e3"),
        (destination.to, "z9"),
    ):
        with pytest.raises(KeyError) as caught:
            ask(name)
        assert isinstance(caught.value, GgnStoreError)
        assert f'"{name}"' in str(caught.value)
        assert "C:P" in str(caught.value) or "e2" in str(caught.value), "the message says what there is"


def test_values_are_frozen_seed_003() -> None:
    ruleset = ggn_store.ruleset(QUICK_START)
    [move] = ruleset.moves({"e2": "C:P"})
    for value, name in (
        (move, "piece"),
        (move.effects, "toggle"),
        (Position({}), "side"),
        (ruleset.document(), "dialect"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


class ChessEngine:
    """The example of seed 003, "Building Game Engines", in Python."""

    def __init__(self, ggn_data: Mapping[str, Any]) -> None:
        self.ruleset = ggn_store.ruleset(ggn_data)

    def pseudo_legal_moves(self, board: Mapping[str, str | None]) -> list[Move]:
        return self.ruleset.moves(board)

    def is_valid_move(self, piece: str, source: str, destination: str, board: Mapping[str, str | None]) -> bool:
        try:
            return bool(self.ruleset.select(piece).from_(source).to(destination).where(board))
        except KeyError:
            return False

    def make_move(
        self, piece: str, source: str, destination: str, board: Mapping[str, str | None], choice_index: int = 0
    ) -> Mapping[str, str | None] | None:
        moves = self.ruleset.select(piece).from_(source).to(destination).where(board)
        return self.ruleset.apply(Position(board), moves[choice_index]).board if moves else None


def test_the_engine_of_seed_003_checks_and_makes_moves() -> None:
    engine = ChessEngine(QUICK_START)
    board = {"e2": "C:P", "e3": None, "e4": None}
    assert engine.is_valid_move("C:P", "e2", "e4", board)
    assert engine.make_move("C:P", "e2", "e4", board) == {"e4": "C:P"}
    assert board == {"e2": "C:P", "e3": None, "e4": None}
    assert len(engine.pseudo_legal_moves(board)) == 1
    assert not engine.is_valid_move("C:P", "e2", "e4", {**board, "e3": "c:n"})
    assert engine.make_move("C:P", "e2", "e4", {**board, "e3": "c:n"}) is None
    for unknown in (("C:Q", "e2", "e4"), ("C:P", "e3", "e4"), ("C:P", "e2", "e5"), ("INVALID:X", "", "")):
        assert not engine.is_valid_move(*unknown, board)
    promotion = ChessEngine(json.loads(SEED_003["promotion-choices"]))
    assert promotion.make_move("C:P", "e7", "e8", {"e7": "C:P"}) == {"e8": "C:Q"}
    assert promotion.make_move("C:P", "e7", "e8", {"e7": "C:P"}, choice_index=1) == {"e8": "C:N"}
    with pytest.raises(IndexError):
        promotion.make_move("C:P", "e7", "e8", {"e7": "C:P"}, choice_index=2)


def test_a_hybrid_game_of_seed_003_has_pieces_of_several_games() -> None:
    def step(piece: str, source: str, destination: str, **conditions: Any) -> dict[str, Any]:
        diff = {"board": {source: None, destination: piece}}
        return {source: {destination: [{"must": {destination: "empty"}, "deny": {}, "diff": diff} | conditions]}}

    hybrid = ggn_store.ruleset(
        {
            "C:K": step("C:K", "e1", "e2"),
            "S:G": step("S:G", "e5", "e6"),
            "X:C": step("X:C", "e5", "e9", must={"e9": "enemy"}, deny={"e7": "empty"}),
        }
    )
    assert list(hybrid.select("C:K").from_("e1").destinations) == ["e2"]
    assert list(hybrid.select("S:G").from_("e5").destinations) == ["e6"]
    assert list(hybrid.select("X:C").from_("e5").destinations) == ["e9"]
    with pytest.raises(KeyError, match="5e"):
        hybrid.select("S:G").from_("5e")
    board = {"e1": "C:K", "e5": "S:G", "e9": "c:k"}
    assert [(move.piece, move.destination) for move in hybrid.moves(board)] == [("C:K", "e2"), ("S:G", "e6")]
    board = {"e1": "C:K", "e5": "X:C", "e7": "s:p", "e9": "c:k"}
    assert [(move.piece, move.destination) for move in hybrid.moves(board)] == [("C:K", "e2"), ("X:C", "e9")]


def test_the_working_board_of_seed_003_may_name_squares_that_no_rule_does() -> None:
    board = {"e1": "C:K", "d1": "C:Q", "e8": "c:k", "e2": None, "f3": None}
    ruleset = ggn_store.ruleset(SEED_003["simple-movement"])
    [move] = ruleset.moves(board)
    assert ruleset.apply(board, move) == Position({"d1": "C:Q", "e2": "C:K", "e8": "c:k"}, side="second")
