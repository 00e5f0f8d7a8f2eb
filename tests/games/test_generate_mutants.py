"""Mutants: without its rule a game is another game, and these positions show it."""

from __future__ import annotations

from typing import Any

import pytest

from ggn_store.games.definition import read
from ggn_store.games.generate import generate
from ggn_store.model.documents.document import Document
from ggn_store.notation.hand import HAND
from tests.support.definitions import moves, shipped, shipped_document, targets
from tests.support.sampled import sampled


def castled(made: Document) -> bool:
    board = {"e1": "C:+K^", "h1": "C:+R"}
    return "g1" in targets(made, board, "e1") and "g1" not in targets(made, {**board, "f1": "C:B"}, "e1")


def passed(made: Document) -> bool:
    return "d6" in targets(made, {"e5": "C:P", "d5": "c:-p"}, "e5")


def stepped_twice(made: Document) -> bool:
    board = {"e2": "C:P"}
    return "e4" in targets(made, board, "e2") and "e4" not in targets(made, {**board, "e3": "c:n"}, "e2")


def promoted(made: Document) -> bool:
    return {diff["board"]["a8"] for _, _, to, diff in moves(made, {"a7": "C:P"}) if to == "a8"} == {
        "C:Q",
        "C:R",
        "C:B",
        "C:N",
    }


def one_pawn_a_file(made: Document) -> bool:
    squares = [to for _, at, to, _ in moves(made, {"e3": "S:P"}, {"S:P": 1}) if at == HAND]
    return len(squares) == 4 * 4


def no_idle_drop(made: Document) -> bool:
    squares = [to for _, at, to, _ in moves(made, {}, {"S:P": 1}) if at == HAND]
    return len(squares) == 5 * 4


def promoted_in_the_camp(made: Document) -> bool:
    results = [diff["board"][to] for _, _, to, diff in moves(made, {"b5": "S:S"}) if to == "c4"]
    return results == ["S:S", "S:+S"]


def promoted_at_the_end(made: Document) -> bool:
    return [diff["board"]["a5"] for _, _, to, diff in moves(made, {"a4": "S:P"}) if to == "a5"] == ["S:+P"]


def stayed_in_the_palace(made: Document) -> bool:
    return sorted(targets(made, {"f3": "X:K^"}, "f3")) == ["e3", "f2"]


def stayed_at_home(made: Document) -> bool:
    return sorted(targets(made, {"c5": "X:B"}, "c5")) == ["a3", "e3"]


def stumbled(made: Document) -> bool:
    return sorted(targets(made, {"e5": "X:N", "e6": "x:p"}, "e5")) == ["c4", "c6", "d3", "f3", "g4", "g6"]


def jumped(made: Document) -> bool:
    board = {"a1": "X:C", "a4": "x:p", "a7": "x:r"}
    return [to for to in targets(made, board, "a1") if to[0] == "a"] == ["a2", "a3", "a7"]


def crossed_the_river(made: Document) -> bool:
    return (sorted(targets(made, {"e6": "X:P"}, "e6")), targets(made, {"e5": "X:P"}, "e5")) == (
        ["d6", "e7", "f6"],
        ["e6"],
    )


def kept_what_it_took(made: Document) -> bool:
    return [diff.get("hands") for _, _, to, diff in moves(made, {"a1": "S:R", "a3": "s:+p"}) if to == "a3"] == [
        {"S:P": 1}
    ]


CHESS_CASTLING = """castling = [
  { from = "e1", to = "g1", with = "h1", with_to = "f1" },
  { from = "e1", to = "c1", with = "a1", with_to = "d1" },
]
"""

MUTANTS = [
    ("chess", castled, CHESS_CASTLING, ""),
    ("chess", castled, 'with = "h1", with_to = "f1" }', 'with = "h1", with_to = "f1", empty = ["g1"] }'),
    ("chess", passed, "ceflFcefrF", "cflFcfrF"),
    ("chess", passed, "en_passant = true", "en_passant = false"),
    (
        "chess",
        stepped_twice,
        'imfnDceflFcefrF"\nconfined = "pawns"\ninitial = "home"\nen_passant = true',
        'ceflFcefrF"',
    ),
    ("chess", stepped_twice, 'imfnDceflFcefrF"\nconfined = "pawns"\ninitial = "home"\nen_passant = true', 'imfDcF"'),
    ("chess", promoted, ', "B", "N"]', ', "N"]'),
    ("chess", promoted, "forced = true", "forced = false"),
    ("chess", promoted, 'last = "a8:h8"', 'last = "a7:h7"'),
    ("minishogi", one_pawn_a_file, "nifu = true", "nifu = false"),
    ("minishogi", one_pawn_a_file, "nifu = true", "nifu = 2"),
    ("minishogi", no_idle_drop, "immobile = false, ", ""),
    ("minishogi", promoted_in_the_camp, '"+S"], on = "enter-or-leave"', '"+S"]'),
    ("minishogi", promoted_at_the_end, '"+P"], on = "enter-or-leave", forced = "immobile"', '"+P"]'),
    ("minishogi", kept_what_it_took, "captures = true", "captures = false"),
    (
        "xiangqi",
        stayed_in_the_palace,
        'betza = "W"\nterminal = true\nconfined = "palace"',
        'betza = "W"\nterminal = true',
    ),
    ("xiangqi", stayed_in_the_palace, 'palace = "d1:f3"', 'palace = "d1:g3"'),
    ("xiangqi", stayed_at_home, 'homeland = "a1:i5"', 'homeland = "all"'),
    ("xiangqi", stumbled, 'betza = "nN"', 'betza = "N"'),
    ("xiangqi", jumped, 'betza = "mRcpR"', 'betza = "mRcR"'),
    ("xiangqi", jumped, 'betza = "mRcpR"', 'betza = "pR"'),
    ("xiangqi", crossed_the_river, 'from = "abroad", ', ""),
    ("xiangqi", crossed_the_river, 'also = [{ from = "abroad", betza = "sW" }]', ""),
]


@pytest.mark.parametrize(("name", "rule", "old", "new"), sampled(MUTANTS, one_in=6))
def test_a_game_without_one_of_its_rules_fails_where_the_game_passes(name: str, rule: Any, old: str, new: str) -> None:
    text = shipped(name)
    assert text.count(old) >= 1
    mutant = text.replace(old, new, 1)
    if old == CHESS_CASTLING:
        mutant = mutant.replace("+k^", "k^").replace("+K^", "K^").replace("+r", "r").replace("+R", "R")
    assert rule(shipped_document(name))
    assert not rule(generate(read(mutant)))
