"""The oracle answers as a person does who evaluates these small tables by hand."""

from typing import Any

import pytest

from tests.oracles import reference

PERFORM: dict[str, Any] = {"GAME:X": {"c3": {"c5": [{"require": {"c4": "empty"}, "perform": {"c3": None}}]}}}
MUST_DENY: dict[str, Any] = {"G:X": {"c3": {"c5": [{}]}, "*": {"c5": [{}]}, "c4": {"*": [{}], "c4": [{}]}}}
DIFF: dict[str, Any] = {"G:X": {"c3": {"c5": [{"must": {}, "deny": {"c5": "G:X"}, "diff": {}}]}}}


def one(possibility: dict[str, Any]) -> dict[str, Any]:
    return {"G:X": {"c3": {"c5": [possibility]}}}


@pytest.mark.parametrize(
    ("document", "dialect"),
    [
        (PERFORM, "perform"),
        ({"$schema": "https://example.org/diff", **MUST_DENY}, "must-deny"),
        (one({"must": {"c5": "empty"}}), "must-deny"),
        (one({"deny": {"c5": "empty"}}), "must-deny"),
        (DIFF, "diff"),
        (one({"diff": {}}), "diff"),
    ],
)
def test_the_dialect_shows_in_the_keys_of_possibilities(document: dict[str, Any], dialect: str) -> None:
    assert reference.detect(document) == dialect


@pytest.mark.parametrize(
    ("state", "square", "on_c5", "side", "expected"),
    [
        # `empty`: no piece there; a square that the position does not mention is empty.
        ("empty", "c5", None, "first", True),
        ("empty", "d9", "G:X", "first", True),
        ("empty", "c5", "G:X", "first", False),
        ("empty", "c5", "g:x", "first", False),
        # `enemy`: a piece of the side other than the active side; upper case is the first side.
        ("enemy", "c5", None, "first", False),
        ("enemy", "d9", "g:x", "first", False),
        ("enemy", "c5", "G:X", "first", False),
        ("enemy", "c5", "g:x", "first", True),
        ("enemy", "c5", "G:X", "second", True),
        ("enemy", "c5", "g:x", "second", False),
        ("enemy", "c5", "shogi9:+p^'", "first", True),
        ("enemy", "c5", "SHOGI9:-P", "second", True),
        # An identifier: exactly that piece, states and markers included, case-sensitively.
        ("G:X", "c5", "G:X", "first", True),
        ("G:X", "c5", "G:X", "second", True),
        ("G:X", "c5", None, "first", False),
        ("G:X", "d9", "G:X", "first", False),
        ("G:X", "c5", "g:x", "first", False),
        ("G:X", "c5", "G:+X", "first", False),
        ("G:X", "c5", "G:-X", "first", False),
        ("G:X", "c5", "G:X^", "first", False),
        ("G:X", "c5", "G:X'", "first", False),
        ("G:X", "c5", "GG:X", "first", False),
        ("G:+X^'", "c5", "G:+X^'", "first", True),
        ("G:+X^'", "c5", "G:+X^", "first", False),
    ],
)
def test_a_condition_holds_as_its_state_says(
    state: str, square: str, on_c5: str | None, side: str, expected: bool
) -> None:
    board = {"c3": "G:X", "c5": on_c5}
    must, deny = one({"must": {square: state}}), one({"deny": {square: state}})
    assert (reference.holds(must, "G:X", "c3", "c5", board, None, side) == [0]) is expected
    assert (reference.holds(deny, "G:X", "c3", "c5", board, None, side) == [0]) is not expected


@pytest.mark.parametrize("names", [("must", "deny"), ("require", "prevent")])
@pytest.mark.parametrize(
    ("board", "expected"),
    [
        ({"d1": "g:a", "d2": "g:b"}, True),
        ({"d1": "g:a"}, False),
        ({"d2": "g:b"}, False),
        ({}, False),
        ({"d1": "g:a", "d2": "g:b", "e1": "G:X"}, False),
        ({"d1": "g:a", "d2": "g:b", "e2": "G:X"}, False),
        ({"d1": "g:a", "d2": "g:b", "e1": "G:X", "e2": "G:X"}, False),
        ({"d1": "g:a", "d2": "g:b", "e1": "g:x"}, True),
    ],
)
def test_every_must_and_no_deny_holds(names: tuple[str, str], board: dict[str, str], expected: bool) -> None:
    must, deny = names
    document = one({must: {"d1": "enemy", "d2": "enemy"}, deny: {"e1": "G:X", "e2": "G:X"}})
    assert bool(reference.moves(document, {"c3": "G:X", **board}, None, "first")) is expected


@pytest.mark.parametrize(("on_c3", "expected"), [("G:X", [0]), (None, []), ("g:x", []), ("G:+X", []), ("G:X'", [])])
def test_the_piece_itself_stands_on_the_source(on_c3: str | None, expected: list[int]) -> None:
    assert reference.holds(MUST_DENY, "G:X", "c3", "c5", {"c3": on_c3}, {"G:X": 1}, "first") == expected


@pytest.mark.parametrize(
    ("hands", "expected"),
    [(None, [0]), ({}, []), ({"G:X": 1}, [0]), ({"G:X": 3}, [0]), ({"g:x": 1}, []), ({"G:+X": 1, "G:X": 0}, [])],
)
def test_a_piece_from_the_hand_is_in_the_hand_or_hands_are_unknown(
    hands: dict[str, int] | None, expected: list[int]
) -> None:
    assert reference.holds(MUST_DENY, "G:X", "*", "c5", {}, hands, "first") == expected


@pytest.mark.parametrize(("on_c5", "expected"), [("g:y", [0]), ("g:k^", []), ("G:Y", []), (None, [])])
def test_one_square_can_be_in_both_maps_with_different_states(on_c5: str | None, expected: list[int]) -> None:
    document = one({"must": {"c5": "enemy"}, "deny": {"c5": "g:k^"}})
    assert reference.holds(document, "G:X", "c3", "c5", {"c3": "G:X", "c5": on_c5}, None, "first") == expected


def test_a_piece_moves_from_the_board_to_the_hand_whatever_is_in_the_hand() -> None:
    for hands in (None, {}, {"G:X": 2}):
        found = reference.moves(MUST_DENY, {"c4": "G:X"}, hands, "first")
        assert ("G:X", "c4", "*", 0) in found


def test_moves_come_in_document_order_with_every_ordinal_that_holds() -> None:
    document: dict[str, Any] = {
        "$schema": "https://example.org",
        "G:X": {
            "c3": {"c5": [{}, {"must": {"c5": "enemy"}}, {"must": {"c5": "empty"}}, {}], "b1": [{}]},
            "a1": {"c5": [{}]},
        },
        "g:x": {"c3": {"c5": [{}]}, "d4": {"d5": [{}]}},
        "G:A": {"*": {"c5": [{"must": {"c3": "G:X"}}]}},
    }
    board = {"c3": "G:X", "a1": "G:X", "d4": "g:x", "d5": None}
    assert reference.moves(document, board, None, "first") == [
        ("G:X", "c3", "c5", 0),
        ("G:X", "c3", "c5", 2),
        ("G:X", "c3", "c5", 3),
        ("G:X", "c3", "b1", 0),
        ("G:X", "a1", "c5", 0),
        ("G:A", "*", "c5", 0),
    ]
    assert reference.moves(document, board, {}, "first")[-1] == ("G:X", "a1", "c5", 0)
    assert reference.moves(document, board, None, "second") == [("g:x", "d4", "d5", 0)]


def test_a_whole_position_has_moves_of_the_active_side_only() -> None:
    assert reference.moves(MUST_DENY, {"c3": "G:X", "c4": "G:X"}, None, "second") == []


def test_a_direct_question_takes_the_active_side_from_its_caller() -> None:
    document = one({"must": {"c3": "enemy"}})
    assert reference.holds(document, "G:X", "c3", "c5", {"c3": "G:X"}, None, "first") == []
    assert reference.holds(document, "G:X", "c3", "c5", {"c3": "G:X"}, None, "second") == [0]


@pytest.mark.parametrize(
    ("piece", "source", "destination"), [("G:Y", "c3", "c5"), ("G:X", "c9", "c5"), ("G:X", "c3", "*")]
)
def test_an_unknown_entry_is_a_key_error(piece: str, source: str, destination: str) -> None:
    with pytest.raises(KeyError):
        reference.holds(MUST_DENY, piece, source, destination, {}, None, "first")


@pytest.mark.parametrize(
    "bad", ["", "G", "G:x", "g:X", "G:XX", "G:X'^", "G:*X", "9:X", "G: X", "G:X\n", "É:X", "empty"]
)
def test_a_bad_identifier_in_a_position_is_an_error_not_a_mismatch(bad: str) -> None:
    with pytest.raises(ValueError, match="is not a piece identifier"):
        reference.moves(MUST_DENY, {"h8": bad}, None, "first")
    with pytest.raises(ValueError, match="is not a piece identifier"):
        reference.holds(MUST_DENY, "G:X", "c3", "c5", {}, {bad: 1}, "first")


def test_perform_is_applied_as_written_and_passes_the_turn() -> None:
    document: dict[str, Any] = {
        "C:K": {"e1": {"g1": [{"perform": {"e1": None, "f1": "C:R", "g1": "C:K", "h1": None, "a8": None}}]}}
    }
    board = {"e1": "C:K", "h1": "C:R", "e8": "c:k", "b1": None}
    after = {"f1": "C:R", "g1": "C:K", "e8": "c:k"}
    assert reference.apply(document, "C:K", "e1", "g1", 0, board, None, "first") == (after, None, "second")
    assert reference.apply(document, "C:K", "e1", "g1", 0, board, {"C:P": 2}, "first")[1] == {"C:P": 2}
    assert board["e1"] == "C:K", "the position itself stays as it was"


@pytest.mark.parametrize(
    ("diff", "hands", "side", "expected"),
    [
        ({}, {"G:X": 1}, "first", ({"c3": "G:X", "c5": "g:y"}, {"G:X": 1}, "second")),
        ({"toggle": True}, None, "second", ({"c3": "G:X", "c5": "g:y"}, None, "first")),
        ({"toggle": False}, None, "first", ({"c3": "G:X", "c5": "g:y"}, None, "first")),
        ({"board": {"c3": None, "c5": "G:+X"}}, None, "first", ({"c5": "G:+X"}, None, "second")),
        ({"board": {"d1": "G:X"}}, None, "first", ({"c3": "G:X", "c5": "g:y", "d1": "G:X"}, None, "second")),
        # Hands change as written, under the identifier as written; nothing at zero is kept.
        ({"hands": {"g:y": 1}, "board": {"c5": None}}, {}, "first", ({"c3": "G:X"}, {"g:y": 1}, "second")),
        ({"hands": {"G:X": -1}, "board": {"c5": None}}, {"G:X": 1}, "first", ({"c3": "G:X"}, {}, "second")),
        ({"hands": {"G:X": -2, "g:y": 2}}, {"G:X": 3, "g:y": 1}, "first", (..., {"G:X": 1, "g:y": 3}, "second")),
        ({"hands": {"G:X": -1}}, None, "first", (..., None, "second")),
    ],
)
def test_a_diff_is_applied_as_written(
    diff: dict[str, Any], hands: dict[str, int] | None, side: str, expected: tuple[Any, Any, str]
) -> None:
    board = {"c3": "G:X", "c5": "g:y", "c4": None}
    after = reference.apply(one({"diff": diff}), "G:X", "c3", "c5", 0, board, hands, side)
    assert after[1:] == expected[1:]
    assert after[0] == (expected[0] if expected[0] is not ... else {"c3": "G:X", "c5": "g:y"})


def test_the_ordinal_picks_the_effects() -> None:
    array = [{"diff": {"board": {"c5": f"G:{letter}"}}} for letter in "QR"]
    document = {"G:X": {"c3": {"c5": array}}}
    assert reference.apply(document, "G:X", "c3", "c5", 0, {}, None, "first")[0] == {"c5": "G:Q"}
    assert reference.apply(document, "G:X", "c3", "c5", 1, {}, None, "first")[0] == {"c5": "G:R"}


@pytest.mark.parametrize(
    ("source", "destination", "board", "hands", "expected"),
    [
        ("c3", "c5", {"c3": "G:X", "c5": "g:y", "a1": "g:z"}, {"G:X": 1}, ({"c5": "G:X", "a1": "g:z"}, {"G:X": 1})),
        ("c3", "c5", {"c3": "G:X"}, None, ({"c5": "G:X"}, None)),
        ("*", "c5", {"a1": None}, {"G:X": 2}, ({"c5": "G:X"}, {"G:X": 1})),
        ("*", "c5", {}, {"G:X": 1, "g:x": 1}, ({"c5": "G:X"}, {"g:x": 1})),
        ("*", "c5", {}, None, ({"c5": "G:X"}, None)),
        ("c4", "*", {"c4": "G:X"}, {}, ({}, {"G:X": 1})),
        ("c4", "*", {"c4": "G:X"}, {"G:X": 1}, ({}, {"G:X": 2})),
        ("c4", "*", {"c4": "G:X"}, None, ({}, None)),
        ("c4", "c4", {"c4": "G:X"}, {}, ({"c4": "G:X"}, {})),
    ],
)
def test_assumed_displacement_moves_the_piece_and_passes_the_turn(
    source: str,
    destination: str,
    board: dict[str, str | None],
    hands: dict[str, int] | None,
    expected: tuple[dict[str, str], dict[str, int] | None],
) -> None:
    after = reference.apply(MUST_DENY, "G:X", source, destination, 0, board, hands, "first", "displacement")
    assert after == (*expected, "second")


def test_moves_without_effects_are_not_applied_unless_displacement_is_assumed() -> None:
    with pytest.raises(ValueError, match="displacement has to be assumed"):
        reference.apply(MUST_DENY, "G:X", "c3", "c5", 0, {"c3": "G:X"}, None, "first")


@pytest.mark.parametrize("hands", [{}, {"G:X": 1}, {"g:x": 5}])
def test_a_hand_never_becomes_negative(hands: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="the hand would hold -"):
        reference.apply(one({"diff": {"hands": {"G:X": -2}}}), "G:X", "c3", "c5", 0, {}, hands, "first")
    with pytest.raises(ValueError, match="the hand would hold -1 of G:X"):
        reference.apply(MUST_DENY, "G:X", "*", "c5", 0, {}, {"g:x": 1}, "first", assume="displacement")


def test_the_canonical_form_keeps_the_order_of_results_and_sorts_the_rest() -> None:
    document: dict[str, Any] = {
        "S:P": {
            "b1": {"a1": [{"diff": {"toggle": True, "hands": {}, "board": {"b1": None, "a1": "S:P"}}, "must": {}}]},
            "*": {"a1": [{"diff": {"toggle": False, "hands": {"s:p": -1, "S:P": -1}}}, {"deny": {}, "diff": {}}]},
        },
        "$schema": "https://example.org/é",
        "C:P": {"a1": {"*": [{"diff": {}, "deny": {"b1": "enemy", "a10": "enemy", "a2": "C:P"}}]}},
    }
    assert reference.canonical_text(document) == (
        "{\n"
        ' "$schema":"https://example.org/é",\n'
        ' "S:P":{\n'
        '  "b1":{\n'
        '   "a1":[\n'
        '    {"diff":{"board":{"a1":"S:P","b1":null}}}\n'
        "   ]\n"
        "  },\n"
        '  "*":{\n'
        '   "a1":[\n'
        '    {"diff":{"hands":{"S:P":-1,"s:p":-1},"toggle":false}},\n'
        '    {"diff":{}}\n'
        "   ]\n"
        "  }\n"
        " },\n"
        ' "C:P":{\n'
        '  "a1":{\n'
        '   "*":[\n'
        '    {"deny":{"a10":"enemy","a2":"C:P","b1":"enemy"},"diff":{}}\n'
        "   ]\n"
        "  }\n"
        " }\n"
        "}\n"
    )


def test_the_canonical_form_of_the_other_dialects() -> None:
    possibility = {
        "perform": {"z": None, "北": "G:X", "a": "G:X"},
        "prevent": {"z": "enemy"},
        "require": {"a": "empty"},
    }
    assert reference.canonical_text({"G:X": {"z": {"北": [possibility]}}}) == (
        '{\n "G:X":{\n  "z":{\n   "北":[\n    {"require":{"a":"empty"},"prevent":{"z":"enemy"},'
        '"perform":{"a":"G:X","z":null,"北":"G:X"}}\n   ]\n  }\n }\n}\n'
    )
    both = [{}, {"deny": {"c4": "enemy"}, "must": {"d4": "empty", "b4": "empty"}}, {"deny": {}, "must": {}}]
    assert reference.canonical_text({"G:X": {"*": {"c5": both}}}) == (
        '{\n "G:X":{\n  "*":{\n   "c5":[\n    {},\n    {"must":{"b4":"empty","d4":"empty"},"deny":{"c4":"enemy"}},\n'
        "    {}\n   ]\n  }\n }\n}\n"
    )
