"""The values of the dialect `gdl`: canonical form and digests, state variables, positions and moves with state."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ggn_store.errors import NotationError, PositionError
from ggn_store.model.changes.changes import Diff
from ggn_store.model.changes.diff import apply, diff
from ggn_store.model.changes.merge import merge
from ggn_store.model.documents import variables
from ggn_store.model.documents.board import box
from ggn_store.model.documents.document import Destination, Document, Envelope, Origin, Piece, Possibility, Source
from ggn_store.model.documents.variables import Variable
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.position import Position
from ggn_store.notation.stn import Transition

EP = Variable("ep", ("3", "4", "none"), "none")
PHASE = Variable("phase", ("main", "setup"), "setup")
DECLARED = '{"ep":{"values":["3","4","none"],"initial":"none"},"phase":{"values":["main","setup"],"initial":"setup"}}'

JUMP = Possibility(
    {"f5": "enemy", "g4": "empty"},
    {"a1": "empty"},
    Transition({"g4": "D:M", "e6": None}, {"D:M": -1}, False, {"phase": "main", "ep": "none"}),
    {"phase": ("main",), "ep": ("3", "4")},
    Origin("man_jump", 2, True),
)
JUMP_TEXT = (
    '{"action":{"name":"man_jump","step":2,"chainable":true},"when":{"ep":["3","4"],"phase":["main"]},'
    '"must":{"f5":"enemy","g4":"empty"},"deny":{"a1":"empty"},'
    '"diff":{"board":{"e6":null,"g4":"D:M"},"hands":{"D:M":-1},"toggle":false,"state":{"ep":"none","phase":"main"}}}'
)
PLAIN = Possibility(effects=Transition({"e6": None}))


def piece(*possibilities: Possibility, identifier: str = "D:M") -> Piece:
    return Piece(identifier, (Source("e6", (Destination("g4", possibilities),)),))


def document(*possibilities: Possibility, **envelope: Any) -> Document:
    fields = {"board": "8x8", "variables": DECLARED} | envelope
    return Document("gdl", (piece(*possibilities),), Envelope(**fields))


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_possibility_is_written_with_action_guards_conditions_and_effects_in_this_order() -> None:
    assert json.dumps(JUMP.data("gdl"), separators=(",", ":")) == JUMP_TEXT


def test_what_a_possibility_does_not_have_is_not_written() -> None:
    assert PLAIN.data("gdl") == {"diff": {"board": {"e6": None}}}
    assert replace(PLAIN, origin=Origin("go")).data("gdl")["action"] == {"name": "go", "step": 1}


def test_the_canonical_text_declares_the_variables_before_the_pieces() -> None:
    text = document(JUMP, PLAIN, schema="urn:x").canonical()
    assert text == (
        f'{{\n "$schema":"urn:x",\n "$state":{DECLARED},\n "D:M":{{\n  "e6":{{\n   "g4":[\n    {JUMP_TEXT},\n'
        '    {"diff":{"board":{"e6":null}}}\n   ]\n  }\n }\n}\n'
    )
    assert json.loads(text) == document(JUMP, PLAIN, schema="urn:x").data()


def test_the_digests_are_those_of_the_canonical_form() -> None:
    board = box((8, 8)).digest
    one = sha256(f'["gdl","{board}","D:M",{{"e6":{{"g4":[{JUMP_TEXT}]}}}}]')
    envelope = json.dumps({"board": "8x8", "variables": DECLARED}, separators=(",", ":"))
    assert document(JUMP).piece_digests == (one,)
    assert document(JUMP).digest == sha256(f'["gdl","{board}",{envelope},["{one}"]]')


OTHERS = {
    "no action": replace(JUMP, origin=None),
    "another action": replace(JUMP, origin=Origin("king_jump", 2, True)),
    "another step": replace(JUMP, origin=Origin("man_jump", 1, True)),
    "no chain": replace(JUMP, origin=Origin("man_jump", 2, False)),
    "a guard less": replace(JUMP, guards={"ep": ("3", "4")}),
    "a value less": replace(JUMP, guards={"phase": ("main",), "ep": ("3",)}),
    "no state effect": replace(JUMP, effects=Transition({"g4": "D:M", "e6": None}, {"D:M": -1}, False)),
    "another state effect": replace(
        JUMP, effects=Transition({"g4": "D:M", "e6": None}, {"D:M": -1}, False, {"phase": "main", "ep": "3"})
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_whatever_differs_gives_another_digest_and_a_difference_that_leads_there(what: str) -> None:
    before, after = document(JUMP), document(OTHERS[what])
    assert before.piece_digests != after.piece_digests
    found = Diff.from_data(json.loads(json.dumps(diff(before, after).data())))
    assert found == diff(before, after)
    assert apply(found, before) == after
    assert apply(diff(after, before), after) == before


def test_a_difference_names_guards_state_effects_and_actions() -> None:
    after = replace(
        JUMP,
        guards={"ep": ("3",)},
        origin=Origin("jump", 2),
        effects=replace(JUMP.effects or Transition(), state={"ep": "3", "phase": "main"}),
    )
    ((_, _, entry),) = diff(document(JUMP), document(after)).entries()
    (change,) = entry.possibilities
    assert [each.data() for each in change.details] == [
        {"part": "action", "name": "chainable", "before": True},
        {"part": "action", "name": "name", "before": "man_jump", "after": "jump"},
        {"part": "when", "name": "ep", "before": '["3", "4"]', "after": '["3"]'},
        {"part": "when", "name": "phase", "before": '["main"]'},
        {"part": "state", "name": "ep", "before": "none", "after": "3"},
    ]


# --- merging ---

FEW = '{"ep":{"values":["none"],"initial":"none"}}'


def test_declared_variables_are_merged_like_any_field() -> None:
    base, titled = document(JUMP), document(JUMP, title="Draughts")
    more = document(JUMP, variables=variables.text([EP, PHASE, Variable("z", ("0",), "0")]))
    merged = merge(base, titled, more).document
    assert merged is not None
    assert merged.envelope == replace(more.envelope, title="Draughts")


def test_a_value_that_one_side_removed_and_the_other_names_is_a_conflict() -> None:
    base = document(PLAIN, variables=variables.text([EP]))
    ours = document(PLAIN, variables=FEW)
    for possibility in (
        replace(PLAIN, guards={"ep": ("3",)}),
        replace(PLAIN, effects=Transition({"e6": None}, state={"ep": "3"})),
    ):
        merged = merge(base, ours, document(possibility, variables=variables.text([EP])))
        assert merged.document is None
        assert [conflict.path for conflict in merged.conflicts] == [("variables",)]
    other = document(replace(PLAIN, guards={"ep": ("none",)}), variables=variables.text([EP]))
    assert merge(base, ours, other).document == replace(other, envelope=ours.envelope)


def test_variables_that_both_sides_declare_otherwise_are_one_conflict() -> None:
    base = document(JUMP)
    ours, theirs = (document(JUMP, variables=variables.text([EP, PHASE, Variable(name, ("0",), "0")])) for name in "yz")
    (conflict,) = merge(base, ours, theirs).conflicts
    assert (conflict.path, conflict.reason) == (("variables",), None)


# --- variables ---


def test_variables_come_back_from_their_canonical_text_which_is_sorted_by_name() -> None:
    assert variables.text([PHASE, EP]) == DECLARED
    assert variables.parse(DECLARED) == {"ep": EP, "phase": PHASE}
    assert variables.text([]) is None
    assert variables.parse(None) == {}


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "null", "1", '{"ep":1}', '{"ep":{}}', "[" * 100_000),
        '{"ep":{"values":[],"initial":"none"}}',
        '{"ep":{"values":["b","a"],"initial":"a"}}',
        '{"ep":{"values":["a","a"],"initial":"a"}}',
        '{"ep":{"values":["a"],"initial":"b"}}',
        '{"ep":{"values":["a",1],"initial":"a"}}',
        '{"ep":{"values":[""],"initial":""}}',
        '{"":{"values":["a"],"initial":"a"}}',
        '{"ep":{"values":["a"],"initial":"a","more":1}}',
        '{"ep": {"values":["a"],"initial":"a"}}',
        '{"ep":{"values":["no","yes"],"initial":"no","square":"a1"}}',
        '{"ep":{"values":["no","yes"],"initial":"no","pieces":["C:R"]}}',
        '{"ep":{"values":["no","yes"],"initial":"no","square":"a1","pieces":["c:r","C:R"]}}',
        '{"ep":{"values":["a","yes"],"initial":"a","square":"a1","pieces":["C:R"]}}',
        '{"ep":{"values":["no","yes"],"initial":"no","square":"","pieces":["C:R"]}}',
    ],
)
def test_what_is_no_canonical_text_of_variables_is_refused(text: str) -> None:
    with pytest.raises(NotationError, match="declares no variables"):
        variables.parse(text)


def test_a_state_is_completed_with_initial_values() -> None:
    declared = variables.parse(DECLARED)
    assert variables.complete(declared, None, "chess") == {"ep": "none", "phase": "setup"}
    assert variables.complete(declared, {"ep": "3"}, "chess") == {"ep": "3", "phase": "setup"}


def test_a_variable_about_a_square_is_what_stands_there() -> None:
    rook = Variable("rook", ("no", "yes"), "yes", "a1", ("C:R", "c:r"))
    declared = variables.parse(variables.text([rook, EP]))
    assert declared["rook"] == rook
    assert variables.told(declared) == {"ep": EP}
    for piece, value in (("C:R", "yes"), ("c:r", "yes"), ("C:+R", "no"), (None, "no")):
        assert variables.complete(declared, {"rook": "yes"}, "chess", {"a1": piece, "b1": "C:R"})["rook"] == value


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"eq": "3"}, '"eq" is not a state variable of chess: it has ep, phase'),
        ({"ep": "5"}, '"5" is not a value of ep in chess: 3, 4, none'),
    ],
)
def test_a_state_that_the_rules_do_not_know_is_refused_with_what_is_allowed(
    state: dict[str, str], message: str
) -> None:
    with pytest.raises(PositionError, match=re.escape(message)):
        variables.complete(variables.parse(DECLARED), state, "chess")


def test_rules_without_variables_say_so() -> None:
    with pytest.raises(PositionError, match='"ep" is not a state variable of chess: it has none'):
        variables.complete({}, {"ep": "3"}, "chess")


# --- positions and moves ---


def test_a_position_carries_its_state() -> None:
    position = Position({"e6": "D:M"}, {}, "first", state={"ep": "3"})
    assert position.data() == {"board": {"e6": "D:M"}, "hands": {}, "side": "first", "state": {"ep": "3"}}
    assert Position.from_data(position.data()) == position
    assert position != Position({"e6": "D:M"}, {}, "first")
    assert Position({"e6": "D:M"}, state={}) == Position({"e6": "D:M"})
    assert "state" not in Position({"e6": "D:M"}).data()
    feen = {"feen": "8/8/8/8/8/8/8/8 / C/c", "state": {"ep": "3"}}
    assert Position.from_data(feen) == Position.from_feen(feen["feen"]).with_changes(state={"ep": "3"})  # type: ignore[arg-type]


@pytest.mark.parametrize("state", [1, [], "ep", {"ep": 3}, {"ep": None}, {"": "3"}, {"ep": ""}, {"e\0": "3"}])
def test_a_bad_state_is_refused_and_quoted(state: Any) -> None:
    with pytest.raises(PositionError, match="a state is an object of variables and their values"):
        Position({}, state=state)


def test_a_move_changes_the_state_that_it_names() -> None:
    position = Position({"e6": "D:M"}, {}, "first", state={"ep": "3", "z": "0"})
    after = position.after(Transition({"e6": None}, {}, False, {"ep": "none"}))
    assert after == Position({}, {}, "first", state={"ep": "none", "z": "0"})
    assert Position({}).after(Transition(state={"ep": "3"})) == Position({}, side="second", state={"ep": "3"})
    assert position.after(Transition()).state == position.state


def test_a_move_is_written_with_action_and_guards_where_it_has_them() -> None:
    plain = Move("D:M", "e6", "g4", 0, {}, {}, None)
    assert not {"action", "step", "chainable", "when"} & plain.data().keys()
    jump = replace(plain, guards={"ep": ("3", "4")}, action="man_jump", step=2, chainable=True)
    assert jump.data() == plain.data() | {
        "when": {"ep": ["3", "4"]},
        "action": "man_jump",
        "step": 2,
        "chainable": True,
    }
