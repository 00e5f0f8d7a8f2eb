"""How games end, in words."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from ggn_store.model.moves.play import DUTIES, OUTCOMES, Duty, Outcome, When
from ggn_store.render.outcomes import duty_text, outcome_text

NAMES = {"C:B": "bishop", "c:b": "bishop", "C:N": "knight", "C:-P": "pawn"}
OTHERS: dict[str, Any] = {
    "pieces": ("C:B", "c:b", "C:N"),
    "squares": ("a1", "c3"),
    "count": 3,
    "edges": ("a1 b1", "a3 b3"),
    "ways": ("1 0",),
    "other": 2,
    **dict.fromkeys(("in_check", "safe", "answered", "perpetual"), True),
}


@pytest.mark.parametrize("when", OUTCOMES)
def test_every_kind_says_all_that_an_outcome_says(when: When) -> None:
    kind = OUTCOMES[when]
    least: dict[str, Any] = {name: ("e4",) if name in ("squares", "ways") else 2 for name in kind.must}
    if "edges" in kind.may:  # of which `count` says how many
        least["edges"] = ("e4", "e5")
    usual = Outcome(when, "win", **least)
    texts = [outcome_text(usual, NAMES)]
    texts += [outcome_text(replace(usual, **{name: OTHERS[name]}), NAMES) for name in (*kind.must, *kind.may)]
    texts += [outcome_text(replace(usual, side="second"), NAMES), outcome_text(replace(usual, verdict="loss"), NAMES)]
    for verdict in ("draw", "majority"):
        texts += [outcome_text(replace(usual, verdict=verdict, side=side), NAMES) for side in (None, "second")]
    assert len(set(texts)) == len(texts)
    assert not any("`" in text for each in texts for text in each)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (
            Outcome("no-move", "loss", in_check=True),
            "no-move: the side to move loses|.* has no legal move and is in check",
        ),
        (
            Outcome("no-move", "draw", "first", in_check=False),
            "no-move: draw for first|first has no legal move and is not in check",
        ),
        (
            Outcome("material", "draw", pieces=("C:B", "C:N", "c:b"), count=1),
            "material: draw|both sides have .* only, but for bishop, knight, of which there is at most 1 in all",
        ),
        (Outcome("extinct", "win", count=0), "extinct: a side wins|a side has no pieces left on its board and in .*"),
        (
            Outcome("goal", "win", "first", ("C:N",), ("f7", "g8"), 2),
            "goal: first wins|first has 2 of knight on f7, g8",
        ),
        (
            Outcome("connection", "win", edges=("a1 b1", "a3 b3"), ways=("0 1", "1 -1")),
            "connection: a side wins|a side has one group of pieces that joins all of these edges: a1 b1; a3 b3, by .*",
        ),
        (
            Outcome("connection", "win", pieces=("C:N",), ways=("0 1",)),
            r"connection: a side wins|a side has all its knight in one group, by steps of \(0, 1\)",
        ),
        (Outcome("quiet", "draw", pieces=("C:-P",), count=100), "quiet: draw|100 plies .*, and without a move of pawn"),
    ],
)
def test_an_outcome_is_a_sentence(outcome: Outcome, words: str) -> None:
    assert re.fullmatch(words.replace("|", r"\|"), "|".join(outcome_text(outcome, NAMES)))


def test_many_squares_are_counted() -> None:
    squares = tuple(f"a{number}" for number in range(1, 33))
    _, text = outcome_text(Outcome("material", "draw", pieces=("C:B",), squares=squares), NAMES)
    assert text.endswith("all on " + ", ".join(squares[:16]) + ", ... (32 squares)")


@pytest.mark.parametrize("name", DUTIES)
def test_a_duty_names_its_pieces(name: str) -> None:
    plain, about = duty_text(Duty(name), NAMES), duty_text(Duty(name, ("C:B", "c:b", "C:N")), NAMES)
    assert plain[0] == name
    assert "bishop, knight" in " ".join(about)
    assert "`" not in " ".join((*plain, *about))
