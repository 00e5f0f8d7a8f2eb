"""Duck chess beside Fairy-Stockfish, whose move is a move of a piece and one of the duck."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ggn_store import Position, Store
from tests.oracles import duck
from tests.support.games import Games

FILE = Path(__file__).parents[2] / "data" / "gdl" / "duck-chess.json"


def test_both_parts_of_a_move_are_those_of_fairy_stockfish(games: Games) -> None:
    rules, found = games[duck.GAME], duck.fixture()[1::2]
    assert [line for each in found for line in duck.differences(rules, each)] == []
    assert {kind for each in found for kind in duck.kinds(each)} == {"castling", "promotion", "in passing", "no duck"}


@pytest.mark.long
def test_whole_moves_are_those_of_fairy_stockfish_in_many_positions(games: Games) -> None:
    pytest.importorskip("pyffish")
    rules, seen = games[duck.GAME], Counter[str]()
    for each in duck.samples(150, 5):
        assert [*duck.differences(rules, each), *duck.whole(rules, each.fen)] == []
        seen.update(duck.kinds(each))
    assert min(seen[kind] for kind in ("castling", "promotion", "in passing")) > 0, seen


@pytest.mark.long
@pytest.mark.parametrize(
    ("rule", "instead"),
    [
        (
            'eq(entity.rank, \'duck\')", "eq(board[target], null)"',
            'eq(entity.rank, \'duck\')", "ne(target.y, 0)"',
        ),
        ("set(entity.owner, other_player(entity.owner))", "set(state.ep, -1)"),
        ("eq(target.y, row)", "eq(target.y, 6)"),
        ("\"set(entity.rank, 'rook')\"", "\"set(entity.rank, 'queen')\""),
    ],
    ids=["place of the duck", "whose duck", "last row", "choice"],
)
def test_another_rule_is_seen(rule: str, instead: str, tmp_path: Path) -> None:
    text = FILE.read_text("utf-8")
    assert rule in text
    (tmp_path / "mutant.json").write_text(text.replace(rule, instead), "utf-8")
    with Store.open("sqlite:///:memory:") as store:
        store.load(tmp_path / "mutant.json")
        rules = store.ruleset("mutant")
        assert any(duck.differences(rules, each) for each in duck.fixture())


def test_the_game_is_over_with_a_king_and_won_by_who_cannot_move(games: Games) -> None:
    rules = games[duck.GAME]
    taken = Position({"e8": "DUCK:R", "a1": "DUCK:K^", "h1": "DUCK:D"}, side="first", state={"phase": "duck"})
    assert (rules.outcome(taken).is_over, rules.outcome(taken).winner) == (True, "first")
    pawns = ("a2", "b1", *(f"b{rank}" for rank in range(2, 8)))
    board = {"a1": "DUCK:K^", **dict.fromkeys(pawns, "DUCK:P"), "a3": "DUCK:D", "b8": "duck:n", "h8": "duck:k^"}
    stuck = Position(board, side="first")
    assert rules.legal_moves(stuck) == []
    assert (rules.outcome(stuck).is_over, rules.outcome(stuck).winner) == (True, "first")
    free = Position({**board, "a3": None, "a4": "DUCK:D"}, side="first")
    assert [move.destination for move in rules.legal_moves(free)] == ["a3"]
    assert not rules.outcome(free).is_over
