"""Lint: every class of finding but the conventions on a tiny document, with a near-miss beside it that is not found."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ggn_store.documents.ggn import parse
from ggn_store.documents.lint import lint
from ggn_store.model.documents.document import Envelope
from tests.oracles.reference import permitted
from tests.support import strategies
from tests.support.findings import Json, found, places

DATA = Path(__file__).parents[2] / "data"


def one_move(possibility: Json, piece: str = "C:R", source: str = "a1", destination: str = "a2") -> Json:
    return {piece: {source: {destination: [possibility]}}}


# --- idle-play ---

KING = one_move({"diff": {"board": {"a1": None, "a2": "C:K^"}}}, "C:K^")
CROSSING = '{"crossing":[{"piece":"C:K^","source":"a1","destination":"%s","through":["a1","a2"]}]}'


def test_a_crossing_of_no_rule_is_found() -> None:
    assert found(KING, "idle-play", play=CROSSING % "a2") == []
    message = "a crossing of [play] is of no rule: there is none of C:K^ from a1 to a3"
    assert found(KING, "idle-play", play=CROSSING % "a3", board="3x3") == [("", message)]


def test_royal_safety_without_a_royal_piece_is_found() -> None:
    rook = one_move({"diff": {"board": {"a1": None, "a2": "C:R"}}})
    message = "royal-safety keeps pieces with ^ safe, such as C:K^, and nothing makes or begins with one"
    assert found(rook, "idle-play", play='{"duties":["royal-safety"]}') == [("", message)]
    assert found(rook, "idle-play", play='{"duties":["royal-safety"]}', start="K^2 / C/c") == []
    assert found(rook, "idle-play", play='{"duties":["pass"]}') == []


# --- duplicate-possibility ---


def test_an_equal_possibility_names_the_first_one_of_its_array() -> None:
    go = {"must": {"a2": "empty", "b1": "enemy"}, "diff": {"board": {"a1": None, "a2": "C:R"}, "hands": {"c:r": 1}}}
    again = {
        "diff": {"hands": {"c:r": 1}, "toggle": True, "board": {"a2": "C:R", "a1": None}},
        "deny": {},
        "must": {"b1": "enemy", "a2": "empty"},
    }
    other = {"must": {"a2": "enemy"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}
    assert found({"C:R": {"a1": {"a2": [go, other, again, go]}}}, "duplicate-possibility") == [
        ("/C:R/a1/a2/2", "the same conditions and effects as /C:R/a1/a2/0"),
        ("/C:R/a1/a2/3", "the same conditions and effects as /C:R/a1/a2/0"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"must": {"a2": "enemy"}},
        {"must": {}, "deny": {"a2": "empty"}},
        {"deny": {"b1": "empty"}},
        {"diff": {"board": {"a1": None, "a2": "C:+R"}}},
        {"diff": {"board": {"a1": None, "a2": "C:R"}, "hands": {"c:r": 1}}},
        {"diff": {"board": {"a1": None, "a2": "C:R"}, "toggle": False}},
    ],
)
def test_a_possibility_that_differs_in_one_thing_is_no_duplicate(change: Json) -> None:
    one = {"must": {"a2": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}
    assert places({"C:R": {"a1": {"a2": [one, one | change]}}}, "duplicate-possibility") == []


def test_equal_possibilities_of_two_destinations_are_no_duplicates() -> None:
    go = {"must": {"b1": "empty"}}
    assert places({"C:R": {"a1": {"a2": [go], "a3": [go]}, "a2": {"a3": [go]}}}, "duplicate-possibility") == []


# --- never-holds, redundant-condition ---

STATES = ("empty", "enemy", "C:R", "C:Q", "c:r", "c:q")
# What can stand on a square: nothing, each piece that STATES name, and one more of each side.
CONTENTS = (None, "C:R", "C:Q", "C:N", "c:r", "c:q", "c:n")
PAIRS = [(must, deny) for must, deny in itertools.product((None, *STATES), repeat=2) if must != deny or must is None]


@pytest.mark.parametrize(("piece", "side"), [("C:R", "first"), ("c:r", "second")])
@pytest.mark.parametrize("square", ["a1", "b3"])
def test_what_lint_says_of_a_must_and_a_deny_is_what_trying_every_content_says(
    square: str, piece: str, side: str
) -> None:
    counts = {"never-holds": 0, "redundant-condition": 0, "neither": 0}
    for must, deny in PAIRS:
        if square == "a1" and must == piece:
            continue
        conditions = [("must", must), ("deny", deny)]
        possibility = {key: {square: state} for key, state in conditions if state is not None}

        def held(conditions: Json) -> list[str | None]:
            contents = (piece,) if square == "a1" else CONTENTS
            return [content for content in contents if permitted(conditions, {"a1": piece, square: content}, side)]

        expected = "neither"
        if not held(possibility):
            expected = "never-holds"
        elif deny is not None and held(possibility) == held(
            {key: possibility[key] for key in possibility if key != "deny"}
        ):
            expected = "redundant-condition"
        codes = {finding.code for finding in lint(parse(one_move(possibility, piece), "must-deny"))}
        assert codes & counts.keys() == {expected} - {"neither"}, possibility
        counts[expected] += 1
    assert min(counts.values()) > 0, counts


@pytest.mark.parametrize(
    ("possibility", "code", "place", "message"),
    [
        ({"must": {"a1": "empty"}}, "never-holds", "must/a1",
         "this can never hold: C:R itself stands on a1, and must asks for empty there"),
        ({"must": {"a2": "empty"}, "deny": {"a1": "C:R"}}, "never-holds", "deny/a1",
         "this can never hold: C:R itself stands on a1, and deny forbids C:R there"),
        ({"must": {"a2": "c:q"}, "deny": {"a2": "enemy"}}, "never-holds", "deny/a2",
         "this can never hold: must asks for c:q on a2, and deny forbids enemy there"),
        ({"must": {"a2": "empty"}, "deny": {"a2": "enemy"}}, "redundant-condition", "deny/a2",
         "this condition changes nothing: must asks for empty on a2, so enemy cannot be there"),
        ({"deny": {"a1": "enemy"}}, "redundant-condition", "deny/a1",
         "this condition changes nothing: C:R itself stands on a1, so enemy cannot be there"),
    ],
)  # fmt: skip
def test_a_condition_that_decides_nothing_is_named_with_the_reason(
    possibility: Json, code: str, place: str, message: str
) -> None:
    assert found(one_move(possibility), code) == [(f"/C:R/a1/a2/0/{place}", message)]


def test_conditions_are_called_what_the_dialect_calls_them() -> None:
    possibility = {
        "require": {"a1": "empty", "a2": "C:P"},
        "prevent": {"a2": "enemy"},
        "perform": {"a1": None, "a2": "C:R"},
    }
    findings = lint(parse(one_move(possibility)))
    assert [(each.code, each.pointer) for each in findings if each.code != "unknown-state"] == [
        ("never-holds", "/C:R/a1/a2/0/require/a1"),
        ("redundant-condition", "/C:R/a1/a2/0/prevent/a2"),
    ]
    assert "require asks for empty" in findings[0].message


def test_conditions_of_a_drop_are_about_squares_only() -> None:
    data = one_move({"must": {"a2": "empty"}, "deny": {"a1": "C:R"}}, source="*")
    assert {finding.code for finding in lint(parse(data, "must-deny"))} == set()


# --- effect-keeps-piece ---


def staying(diff: Json, piece: str = "S:P", source: str = "a1", destination: str = "a2") -> list[str]:
    """What is said of one move's effects; the finding points at them."""
    findings = found(one_move({"diff": diff}, piece, source, destination), "effect-keeps-piece")
    assert [pointer for pointer, _ in findings] == [f"/{piece}/{source}/{destination}/0/diff"] * len(findings)
    return [message.removeprefix("the effects do not make the move: they ") for _, message in findings]


@pytest.mark.parametrize(
    ("diff", "message"),
    [
        ({}, "leave S:P on a1 and put no piece of its side on a2"),
        ({"board": {"a1": None}}, "put no piece of its side on a2"),
        ({"board": {"a1": None, "a2": None}}, "put no piece of its side on a2"),
        ({"board": {"a1": None, "a2": "s:p"}}, "put no piece of its side on a2"),
        ({"board": {"a2": "S:P"}}, "leave S:P on a1"),
        ({"board": {"a1": "S:P", "a2": "S:P"}}, "leave S:P on a1"),
    ],
)
def test_effects_that_leave_the_piece_or_miss_the_destination_are_found(diff: Json, message: str) -> None:
    assert staying(diff) == [message]


@pytest.mark.parametrize(
    "diff",
    [
        {"board": {"a1": None, "a2": "S:P"}},
        {"board": {"a1": None, "a2": "S:+P"}},
        {"board": {"a1": None, "a2": "S:G"}},
        {"board": {"a1": "S:L", "a2": "S:P"}},
        {"board": {"a1": None, "a2": "S:P", "b1": None}, "hands": {"S:L": 1}},
    ],
)
def test_effects_that_move_promote_swap_or_capture_are_not_found(diff: Json) -> None:
    assert staying(diff) == []


@pytest.mark.parametrize(
    ("diff", "messages"),
    [
        ({"board": {"a2": "S:P"}, "hands": {"S:P": -1}}, []),
        ({"board": {"a2": "S:P"}}, ["take no S:P from the hand"]),
        ({"board": {"a2": "S:P"}, "hands": {"S:P": 1}}, ["take no S:P from the hand"]),
        ({"board": {"a2": "S:P"}, "hands": {"S:L": -1}}, ["take no S:P from the hand"]),
        ({"hands": {"S:P": -1}}, ["put no piece of its side on a2"]),
    ],
)
def test_a_drop_takes_the_piece_from_the_hand(diff: Json, messages: list[str]) -> None:
    assert staying(diff, source="*") == messages


@pytest.mark.parametrize(
    ("diff", "messages"),
    [
        ({"board": {"a1": None}, "hands": {"S:L": 1}}, []),
        ({"board": {"a1": None}}, ["put nothing into a hand"]),
        ({"board": {"a1": None}, "hands": {"S:P": -1}}, ["put nothing into a hand"]),
        ({"hands": {"S:P": 1}}, ["leave S:P on a1"]),
    ],
)
def test_a_move_to_the_hand_adds_to_a_hand(diff: Json, messages: list[str]) -> None:
    assert staying(diff, destination="*") == messages


def test_effects_of_the_perform_dialect_are_looked_at_and_a_must_deny_document_has_none() -> None:
    assert places(one_move({"perform": {"a1": None}}), "effect-keeps-piece") == ["/C:R/a1/a2/0/perform"]
    assert places(one_move({"must": {"a2": "empty"}}), "effect-keeps-piece") == []


# --- no-rules, unknown-state ---


def test_a_piece_without_rules_is_named_once_at_the_first_effect_that_makes_it() -> None:
    promote = {"diff": {"board": {"a1": None, "a2": "C:Q"}, "hands": {"C:N": 1, "C:B": -1}}}
    data = {"C:P": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:P"}}}, promote, promote]}}}
    assert found(data, "no-rules") == [
        ("/C:P/a1/a2/1/diff/board/a2", "C:Q has no rules in this document: once it is there, it stays"),
        ("/C:P/a1/a2/1/diff/hands/C:N", "C:N has no rules in this document: once it is there, it stays"),
    ]
    assert places(data | {"C:Q": data["C:P"], "C:N": data["C:P"]}, "no-rules") == []
    assert places(one_move({"perform": {"a1": None, "a2": "C:Q"}}), "no-rules") == ["/C:R/a1/a2/0/perform/a2"]


def test_a_condition_on_a_piece_that_nothing_brings_about_is_found_at_its_first_place() -> None:
    data = {"C:P": {"a1": {"a2": [{"must": {"b1": "c:-p"}}, {"deny": {"b1": "c:-p"}}]}}}
    assert found(data, "unknown-state") == [
        (
            "/C:P/a1/a2/0/must/b1",
            "c:-p has no rules in this document and no effect makes it (2 conditions name it): is it spelled as meant?",
        )
    ]
    assert places(data, "unknown-state", board="2x2", start="-p1/P1 / C/c") == []
    assert places(data, "unknown-state", board="2x2", start="p1/P1 -P/ C/c") == ["/C:P/a1/a2/0/must/b1"]
    assert places(data | {"c:-p": {"a2": {"a1": [{}]}}}, "unknown-state") == []


def test_a_condition_on_a_piece_that_an_effect_makes_is_not_found() -> None:
    step = {"deny": {"b1": "c:-p"}, "diff": {"board": {"a1": None, "a2": "C:P"}}}
    mark = {"diff": {"board": {"a2": None, "a1": "c:-p"}}}
    both = {"C:P": {"a1": {"a2": [step]}}, "c:p": {"a2": {"a1": [mark]}}}
    assert places(both, "unknown-state") == []
    assert found({"C:P": both["C:P"]}, "unknown-state") == [
        (
            "/C:P/a1/a2/0/deny/b1",
            "c:-p has no rules in this document and no effect makes it: is it spelled as meant?",
        )
    ]


# --- unreachable-piece ---


def promoting(piece: str, becomes: str, must: Json | None = None, hands: Json | None = None) -> Json:
    """Rules of a piece that becomes another one as it moves."""
    diff = {"board": {"a1": None, "a2": becomes}} | ({"hands": hands} if hands else {})
    return {piece: {"a1": {"a2": [{"must": must or {}, "diff": diff}]}}}


CHAIN = promoting("C:P", "C:N") | promoting("C:N", "C:Q") | promoting("C:Q", "C:Q") | promoting("C:R", "C:N")


def test_a_piece_that_no_chain_of_effects_makes_is_unreachable() -> None:
    assert found(CHAIN, "unreachable-piece", start="1/P / C/c") == [
        ("/C:R", "C:R is not in the start position, and no play from there makes it")
    ]
    assert places(CHAIN, "unreachable-piece", start="R/P / C/c") == []
    assert places(CHAIN, "unreachable-piece", start="1/N R/ C/c") == ["/C:P"]
    assert places(CHAIN, "unreachable-piece", start="1/Q / C/c") == ["/C:P", "/C:N", "/C:R"]


def test_a_piece_that_goes_to_a_hand_is_reached_and_one_that_leaves_it_is_not() -> None:
    def capturing(count: int) -> Json:
        return CHAIN | promoting("C:P", "C:P", hands={"C:R": count})

    assert places(capturing(1), "unreachable-piece", start="1/P / C/c") == []
    assert places(capturing(-1), "unreachable-piece", start="1/P / C/c") == ["/C:N", "/C:Q", "/C:R"]


def test_a_possibility_counts_only_once_the_pieces_that_it_asks_for_can_be_there() -> None:
    castle = promoting("C:K", "C:+K", must={"b1": "C:+R"}) | promoting("C:+K", "C:K")
    rook = promoting("C:R", "C:+R")
    assert places(castle, "unreachable-piece", start="1/K / C/c") == ["/C:+K"]
    assert places(castle | rook, "unreachable-piece", start="1/K / C/c") == ["/C:+K", "/C:R"]
    assert places(castle | rook, "unreachable-piece", start="R/K / C/c") == []
    assert places(castle, "unreachable-piece", start="+R/K / C/c") == []


def test_nothing_is_unreachable_without_a_start_position_or_without_effects() -> None:
    assert places(CHAIN, "unreachable-piece") == []
    silent: Json = {"C:P": {"a1": {"a2": [{}]}}, "C:Q": {"a1": {"a2": [{}]}}}
    assert places(silent, "unreachable-piece", start="1/P / C/c") == []


# --- same-rules ---


def test_a_state_that_changes_neither_moves_nor_conditions_is_found_at_the_later_piece() -> None:
    rules = {"a1": {"a2": [{"must": {"a2": "empty"}}], "b1": [{}]}}
    turned = {"a1": {"b1": [{}], "a2": [{"must": {"a2": "empty"}}]}}
    assert found({"S:+L": rules, "S:G": rules, "S:L": turned}, "same-rules") == [
        ("/S:L", "the same rules as S:+L, and no condition distinguishes them")
    ]


@pytest.mark.parametrize("other", ["S:N", "S:L^", "S:L'", "s:l", "X:L"])
def test_pieces_that_differ_in_more_than_their_state_may_have_the_same_rules(other: str) -> None:
    rules = {"a1": {"a2": [{"must": {"a2": "empty"}}]}}
    assert places({"S:+L": rules, other: rules}, "same-rules") == []


@pytest.mark.parametrize(
    "change",
    [
        {"a1": {"a2": [{"must": {"a2": "enemy"}}]}},
        {"a1": {"a3": [{"must": {"a2": "empty"}}]}},
        {"b1": {"a2": [{"must": {"a2": "empty"}}]}},
        {"a1": {"a2": [{"must": {"a2": "empty"}}]}, "b1": {"a2": [{}]}},
    ],
)
def test_states_with_different_rules_are_not_found(change: Json) -> None:
    rules = {"a1": {"a2": [{"must": {"a2": "empty"}}]}}
    assert places({"S:+L": rules, "S:L": change}, "same-rules") == []


@pytest.mark.parametrize("state", ["C:P", "C:-P"])
def test_a_state_that_a_condition_asks_for_has_its_use(state: str) -> None:
    rules = {"a1": {"a2": [{"must": {"a2": "empty"}}]}}
    data = {"C:P": rules, "C:-P": rules, "c:p": {"a2": {"b1": [{"must": {"a1": state}}]}}}
    assert places(data, "same-rules") == []
    data["c:p"]["a2"]["b1"] = [{"must": {"a1": "enemy"}}]
    assert places(data, "same-rules") == ["/C:-P"]


def test_effects_are_the_same_where_each_piece_stays_itself_or_both_become_the_same() -> None:
    assert places(promoting("C:+R", "C:+R") | promoting("C:R", "C:R"), "same-rules") == ["/C:R"]
    assert places(promoting("C:+R", "C:R") | promoting("C:R", "C:R"), "same-rules") == ["/C:R"]
    assert places(promoting("C:+R", "C:+R") | promoting("C:R", "C:+R"), "same-rules") == ["/C:R"]
    assert places(promoting("C:+R", "C:R") | promoting("C:R", "C:+R"), "same-rules") == []
    assert places(promoting("C:+R", "C:Q") | promoting("C:R", "C:N"), "same-rules") == []


def test_effects_on_the_hand_are_part_of_the_rules() -> None:
    def kept(piece: str, held: str) -> Json:
        return promoting(piece, piece, hands={held: 1})

    assert places(kept("S:+P", "S:+P") | kept("S:P", "S:P"), "same-rules") == ["/S:P"]
    assert places(kept("S:+P", "S:P") | kept("S:P", "S:P"), "same-rules") == []
    assert places(kept("S:+P", "S:L") | kept("S:P", "S:L"), "same-rules") == ["/S:P"]


# --- addresses ---

TEXT = """{
  "C:R": {
    "a1": {
      "a2": [
        {"must": {"a1": "empty"}},
        {"must": {"a1": "empty"}}
      ]
    }
  },
  "C:+R": {"b1": {"b2": [
    {"must": {"b2": "C:Q"}}
  ]}},
  "C:-R": {"b1": {"b2": [
    {"must": {"b2": "C:Q"}}
  ]}}
}
"""


def test_findings_come_in_document_order_with_the_places_of_the_text() -> None:
    findings = lint(parse(TEXT), TEXT, "rook.json")
    assert [(each.code, each.pointer, each.line, each.column, each.file) for each in findings] == [
        ("never-holds", "/C:R/a1/a2/0/must/a1", 5, 25, "rook.json"),
        ("duplicate-possibility", "/C:R/a1/a2/1", 6, 9, "rook.json"),
        ("never-holds", "/C:R/a1/a2/1/must/a1", 6, 25, "rook.json"),
        ("unknown-state", "/C:+R/b1/b2/0/must/b2", 11, 21, "rook.json"),
        ("same-rules", "/C:-R", 13, 3, "rook.json"),
    ]
    without = lint(parse(TEXT))
    assert [(each.pointer, each.line, each.column, each.file) for each in without] == [
        (each.pointer, None, None, None) for each in findings
    ]


def test_findings_of_one_possibility_come_conditions_first() -> None:
    possibility = {
        "diff": {"board": {"a1": "C:Q"}},
        "deny": {"b1": "c:n", "a1": "empty"},
        "must": {"b2": "c:b", "a1": "enemy"},
    }
    data = {"C:R": {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": "C:R"}}}, possibility, possibility]}}}
    findings = lint(parse(data))
    assert [(each.code, each.pointer.removeprefix("/C:R/a1/a2/")) for each in findings] == [
        ("never-holds", "1/must/a1"),
        ("unknown-state", "1/must/b2"),
        ("unknown-state", "1/deny/b1"),
        ("effect-keeps-piece", "1/diff"),
        ("no-rules", "1/diff/board/a1"),
        ("duplicate-possibility", "2"),
        ("never-holds", "2/must/a1"),
        ("effect-keeps-piece", "2/diff"),
    ]


def test_a_message_holds_nothing_that_could_act_on_a_terminal() -> None:
    label = "\x1b[31m"
    data = {"C:R": {label: {"x": [{"perform": {"x": "C:R"}}]}}}
    assert [message for _, message in found(data, "effect-keeps-piece")] == [
        "the effects do not make the move: they leave C:R on \\x1b[31m"
    ]


def value_at(data: Any, pointer: str) -> Any:
    """What a JSON Pointer points at; raises where it points at nothing."""
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data


@pytest.mark.parametrize("dialect", strategies.DIALECTS)
def test_findings_about_any_document_point_at_what_is_there(dialect: str) -> None:
    codes: set[str] = set()

    @settings(max_examples=40, suppress_health_check=list(HealthCheck))
    @given(strategies.documents(dialect))
    def check(data: Json) -> None:
        text = json.dumps(data, indent=1)
        starts = [0, *(match.end() for match in re.finditer("\n", text))]
        findings = lint(parse(text), text)
        assert [(each.pointer, each.message) for each in findings] == [
            (each.pointer, each.message) for each in lint(parse(data))
        ]
        for finding in findings:
            assert finding.line is not None
            assert finding.column is not None
            there, _ = json.JSONDecoder().raw_decode(text, starts[finding.line - 1] + finding.column - 1)
            depth = finding.pointer.count("/")
            assert there == (value_at(data, finding.pointer) if depth > 3 else finding.pointer.split("/")[-1])
            codes.add(finding.code)

    check()
    assert {"never-holds", "redundant-condition", "unknown-state"} <= codes
    assert ("effect-keeps-piece" in codes) == (dialect != "must-deny")


# --- the chess that ships ---

CHESS = (DATA / "chess.json").read_text("utf-8")
START = "+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c"


def test_the_chess_that_ships_has_nothing_suspicious() -> None:
    assert lint(parse(CHESS, envelope=Envelope(start=START)), CHESS) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ('{"must":{"f5":"c:-p","f6":"empty"}', '{"must":{"f5":"c:+p","f6":"empty"}',
         "unknown-state", "/C:P/e5/f6/1/must/f5"),
        ('"diff":{"board":{"e2":null,"e4":"C:-P"}}', '"diff":{"board":{"e3":null,"e4":"C:-P"}}',
         "effect-keeps-piece", "/C:P/e2/e4/0/diff"),
        ('{"must":{"e3":"empty","e4":"enemy"},"diff":{"board":{"e2":null,"e4":"C:Q"}}}',
         '{"must":{"e3":"empty","e4":"empty"},"diff":{"board":{"e2":null,"e4":"C:Q"}}}',
         "duplicate-possibility", "/C:Q/e2/e4/1"),
        ('{"must":{"e3":"empty","e4":"enemy"},"diff":{"board":{"e2":null,"e4":"C:Q"}}}',
         '{"must":{"e2":"empty","e4":"enemy"},"diff":{"board":{"e2":null,"e4":"C:Q"}}}',
         "never-holds", "/C:Q/e2/e4/1/must/e2"),
        ('"diff":{"board":{"d2":null,"d3":"C:P"}}', '"diff":{"board":{"d2":null,"d3":"C:+P"}}',
         "no-rules", "/C:P/d2/d3/0/diff/board/d3"),
        ('"diff":{"board":{"a7":null,"a8":"C:N"}}}', '"diff":{"board":{"a7":null,"a8":"C:P"}}}',
         "convention", "/C:P/a7/a8"),
    ],
)  # fmt: skip
def test_one_slip_in_the_chess_that_ships_is_all_that_is_found(old: str, new: str, code: str, place: str) -> None:
    changed = CHESS.replace(old, new, 1)
    line = CHESS[: CHESS.index(old)].count("\n") + 1
    findings = lint(parse(changed, envelope=Envelope(start=START)), changed)
    # The last slip is found at its destination, which stands above its four possibilities.
    above = 4 if place.endswith("/a7/a8") else 0
    assert [(each.code, each.pointer, each.line) for each in findings] == [(code, place, line - above)]


def test_a_start_position_without_its_unmoved_rooks_makes_their_rules_unreachable() -> None:
    document = parse(CHESS, envelope=Envelope(start=START.replace("+R", "R")))
    assert [(each.code, each.pointer) for each in lint(document)] == [("unreachable-piece", "/C:+R")]
