"""End conditions of game descriptions become outcomes where a board decides them; what is left is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Store
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Outcome, Play
from tests.support.gdl_tiny import tiny

DATA = Path(__file__).parents[2] / "data" / "gdl"


def declared(*ends: dict[str, Any], game: str | None = None) -> Play:
    """What a game with such ends declares; of a small one, if none is named."""
    if game is None:
        data = json.loads(json.dumps(tiny()).replace("Dark", "White"))
    else:
        data = json.loads((DATA / f"{game}.json").read_text(encoding="utf-8"))
    data["end_conditions"] = {"conditions": list(ends)}
    return play_text.parse(compile_specification(data).document.envelope.play)


def end(condition: str, kind: str = "victory", of: str | None = "player(p)") -> dict[str, Any]:
    return {"type": kind, "condition": condition} | ({} if of is None else {"for": of})


NO_MOVE = "eq(size(get_all_legal_moves_for({})), 0)"
NOTHING = "eq(size(entities_of_player({})), 0)"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (end(NO_MOVE.format("opponent_of(p)")), Outcome("no-move", "loss")),
        (end(NO_MOVE.format("other_player(player(p))")), Outcome("no-move", "loss")),
        (end(NO_MOVE.format("p")), Outcome("no-move", "win")),
        (end(NO_MOVE.format("p"), "defeat"), Outcome("no-move", "loss")),
        (end(NO_MOVE.format("p"), "draw", None), Outcome("no-move", "draw")),
        (end(NOTHING.format("opponent_of(p)")), Outcome("extinct", "loss", count=0)),
        (end("lte(size(entities_of_player(opponent_of(p))), 2)"), Outcome("extinct", "loss", count=2)),
        (end("lt(size(entities_of_player(p)), 2)", "defeat"), Outcome("extinct", "loss", count=1)),
    ],
)
def test_what_a_board_decides_is_an_outcome(said: dict[str, Any], outcome: Outcome) -> None:
    assert declared(said) == Play(outcomes=(outcome,))


@pytest.mark.parametrize(
    "said",
    [
        end("none_left(opponent_of(p))"),
        end("king_captured(q)", of="player(p)"),
        end(NO_MOVE.format("player('White')")),
        end(NO_MOVE.format("p"), of="player('White')"),
        end(NO_MOVE.format("p"), of=None),
        end(NO_MOVE.format("p"), "glory"),
        end("eq(size(entities_of_player(p)), 3)"),
        end("lt(size(entities_of_player(p)), 0)"),
        end("eq(size(get_all_legal_moves_for(p)), 1)"),
        end(f"and({NO_MOVE.format('p')}, state.rallied)"),
    ],
    ids=lambda said: said["condition"],
)
def test_what_a_board_does_not_decide_is_left_to_the_host(said: dict[str, Any]) -> None:
    assert declared(said) == Play(host=("ends",))
    assert declared(end(NO_MOVE.format("p")), said) == Play(outcomes=(Outcome("no-move", "win"),), host=("ends",))


def test_kings_are_what_is_called_so_and_without_end_conditions_there_is_nothing() -> None:
    assert declared() == Play()
    found = declared(end("king_captured(opponent_of(p))"), game="chess")
    assert len(found.outcomes) == 1
    assert (found.outcomes[0].when, found.outcomes[0].verdict, len(found.outcomes[0].pieces)) == ("extinct", "loss", 4)


@pytest.mark.parametrize(
    "game", ["checkers", "contraband", *(pytest.param(name, marks=pytest.mark.long) for name in ("chess", "hexguard"))]
)
def test_our_own_games_say_how_they_end(store: Store, game: str) -> None:
    store.load(DATA / f"{game}.json", game)
    found = store.ruleset(game).play
    assert (len(found.outcomes), found.host) == (1, ())
    assert [duty.name for duty in found.duties] == (["mandatory-capture"] if game == "checkers" else [])
