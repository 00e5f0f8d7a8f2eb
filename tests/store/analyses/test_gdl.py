"""What the analyses say of state variables: what mentions them, what differs in them, and where they are left out.

Every answer was counted by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Ruleset, Store, parse
from ggn_store.errors import NotationError
from ggn_store.model.documents.document import Envelope
from tests.support.program import Command, write
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run

Json = dict[str, Any]

TIDE = {"values": ["high", "low", "neap"], "initial": "high"}
LAMP = {"values": ["off", "on"], "initial": "off"}
SAIL = {
    "action": {"name": "sail", "chainable": True},
    "when": {"tide": ["high", "neap"]},
    "must": {"b2": "empty"},
    "diff": {"board": {"a1": None, "b2": "S:B"}, "state": {"tide": "low"}},
}
WADE = {
    "action": {"name": "wade"},
    "when": {"tide": ["low"], "lamp": ["on"]},
    "must": {"b2": "empty"},
    "diff": {"board": {"a1": None, "b2": "S:B"}},
}
ROW = {
    "action": {"name": "row"},
    "must": {"a2": "empty"},
    "diff": {"board": {"b1": None, "a2": "s:b"}, "state": {"lamp": "on"}},
}
GAME: Json = {
    "$state": {"lamp": LAMP, "tide": TIDE},
    "S:B": {"a1": {"b2": [SAIL, WADE]}},
    "s:b": {"b1": {"a2": [ROW]}},
}


def loaded(store: Store, game: Json, name: str = "boats") -> Ruleset:
    store.load(parse(game, envelope=Envelope(board="2x2")), name)
    return store.ruleset(name)


def changed(possibility: Json, **other: Any) -> Json:
    """The game with another possibility instead of one."""
    instead = {**possibility, **other}
    written = json.dumps(GAME)
    assert json.dumps(possibility) in written
    return dict(json.loads(written.replace(json.dumps(possibility), json.dumps(instead))))


# --- uses ---


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        # SAIL lets the tide have two values, WADE one, and SAIL gives it another.
        ("tide", {("S:B", "when"): (2, 3), ("S:B", "state"): (1, 1)}),
        ("tide=low", {("S:B", "when"): (1, 1), ("S:B", "state"): (1, 1)}),
        ("tide=neap", {("S:B", "when"): (1, 1)}),
        ("lamp", {("S:B", "when"): (1, 1), ("s:b", "state"): (1, 1)}),
        ("lamp=off", {}),
    ],
)
def test_uses_count_where_a_state_variable_is_asked_for_and_changed(
    store: Store, asked: str, counted: dict[tuple[str, str], tuple[int, int]]
) -> None:
    uses = loaded(store, GAME).analysis().uses(asked)
    assert {(each.piece, each.role): (each.possibilities, each.mentions) for each in uses} == counted


def test_each_use_of_a_state_variable_is_listed_in_document_order(store: Store) -> None:
    listed = loaded(store, GAME).analysis().each_use("tide=low")
    assert [(each.piece, each.source, each.destination, each.ordinal, each.role, each.square) for each in listed] == [
        ("S:B", "a1", "b2", 0, "state", None),
        ("S:B", "a1", "b2", 1, "when", None),
    ]


def test_a_variable_with_an_equals_sign_in_its_name_can_be_asked_for(store: Store) -> None:
    odd: Json = {
        "$state": {"a=b": LAMP},
        "S:B": {"a1": {"b2": [{"when": {"a=b": ["on"]}, "diff": {"board": {"a1": None}}}]}},
    }
    analysis = loaded(store, odd).analysis()
    assert [len(analysis.each_use(asked)) for asked in ("a=b", "a=b=on", "a=b=off")] == [1, 1, 0]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("tid", '"tid" is not a state: empty, enemy or a piece identifier .*boats@1, or VARIABLE=VALUE: lamp, tide'),
        ("tide=", '"" is not a value of tide in boats@1: high, low, neap'),
        ("tide=on", '"on" is not a value of tide in boats@1: high, low, neap'),
        ("=low", '"=low" is not a state: '),
    ],
)
def test_what_no_rule_can_mention_is_told_with_what_they_can(store: Store, asked: str, told: str) -> None:
    analysis = loaded(store, GAME).analysis()
    for ask in (analysis.uses, analysis.each_use):
        with pytest.raises(NotationError, match=told):
            ask(asked)


# --- compare ---


@pytest.mark.parametrize(
    "other",
    [
        changed(SAIL, when={"tide": ["high"]}),
        changed(SAIL, when={"lamp": ["on"], "tide": ["high", "neap"]}),
        changed(SAIL, diff={**SAIL["diff"], "state": {"tide": "neap"}}),  # type: ignore[dict-item]
        changed(SAIL, diff={"board": SAIL["diff"]["board"]}),  # type: ignore[index]
    ],
    ids=["another value", "another variable", "another effect", "no effect"],
)
def test_a_comparison_sees_what_moves_ask_of_the_state_and_make_of_it(store: Store, other: Json) -> None:
    loaded(store, GAME)
    loaded(store, other, "others")
    for before, after in (("boats", "others"), ("others", "boats")):
        (found,) = store.analysis().compare(before, after)
        assert (found.change, found.piece, found.other, found.gained, found.lost) == ("changed", "S:B", "S:B", 0, 0)
        assert found.what == "what its moves ask of state variables, or make of them, differs"


@pytest.mark.parametrize(
    "other",
    [
        changed(SAIL, action={"name": "go"}),
        GAME | {"S:B": {"a1": {"b2": [WADE, SAIL]}}},
        GAME | {"$state": {"lamp": LAMP, "tide": {**TIDE, "initial": "low"}}},
    ],
    ids=["another name", "another order", "another beginning"],
)
def test_a_comparison_is_not_of_names_order_and_beginnings(store: Store, other: Json) -> None:
    loaded(store, GAME)
    loaded(store, other, "others")
    assert store.analysis().compare("boats", "others") == []


# --- symmetry ---

MIRRORED: Json = {
    "$state": {"tide": TIDE},
    "S:B": {"a1": {"b2": [{"when": {"tide": ["low"]}, "must": {"b2": "empty"}, "diff": {"board": {"a1": None}}}]}},
    "s:b": {
        "a2": {
            "b1": [
                {
                    "action": {"name": "sail"},
                    "must": {"b1": "empty"},
                    "diff": {"board": {"a2": None}, "state": {"tide": "low"}},
                }
            ]
        }
    },
}


def test_symmetry_is_not_of_state_variables_and_names(store: Store) -> None:
    found = loaded(store, MIRRORED).analysis().symmetries()
    assert [each.symmetry for each in found if each.of == "sides" and each.holds] == ["mirrored top to bottom"]


def test_what_is_told_of_an_asymmetry_is_not_of_state_variables_and_names(store: Store) -> None:
    game = json.loads(json.dumps(MIRRORED))
    game["s:b"]["a2"]["b1"][0]["must"] = {"b1": "enemy"}
    (found,) = [
        each
        for each in loaded(store, game).analysis().asymmetries("mirrored top to bottom", None)
        if each.of == "sides"
    ]
    assert found.what == "s:b a2-b1 has must b1 enemy, not empty"


def test_who_asks_for_symmetry_is_told_that_state_variables_are_left_out(ggn: Command, tmp_path: Path) -> None:
    plain = {"S:B": {"a1": {"b2": [{"diff": {"board": {"a1": None}}}]}}}
    for name, game in {"boats": GAME, "plain": plain}.items():
        ggn("load", write(tmp_path / f"{name}.json", game))
    answer = ggn("symmetry", "boats")
    assert (answer.code, answer.err) == (0, "note: state variables are left out: boats@1 has lamp, tide\n")
    assert ggn("symmetry", "plain").err == ""


def test_state_variables_differ_line_by_line(ggn: Command, tmp_path: Path) -> None:
    other = GAME | {"$state": {"tide": {**TIDE, "initial": "low"}, "lamp": LAMP, "wind": LAMP}}
    for name, game in {"boats": GAME, "others": other}.items():
        ggn("load", write(tmp_path / f"{name}.json", game))
    assert ggn("diff", "boats", "others").out.splitlines()[2:] == [
        "~ variable tide: high|low|neap, at first high -> high|low|neap, at first low",
        "+ variable wind: off|on, at first off",
    ]
    assert ggn("diff", "others", "boats").out.splitlines()[2:] == [
        "~ variable tide: high|low|neap, at first low -> high|low|neap, at first high",
        "- variable wind: off|on, at first off",
    ]
