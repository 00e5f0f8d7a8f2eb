"""Conversion between the dialects: what it keeps, and what it refuses to lose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ggn_store.documents.convert import convert, left_out
from ggn_store.documents.ggn import parse, problems
from ggn_store.errors import ConversionError, NotationError, printable
from ggn_store.model.documents.document import DIALECTS, Dialect, Document, Envelope
from ggn_store.model.moves.move import DISPLACEMENT, Assumption
from ggn_store.notation.json_text import pointer
from tests.support.malformed import checker
from tests.support.strategies import documents, stateless

Json = Any


def one(piece: str, source: str, destination: str, *possibilities: Json) -> Json:
    return {piece: {source: {destination: list(possibilities)}}}


def drop(piece: str = "S:P", **diff: Json) -> Json:
    return one(piece, "*", "e4", {"diff": {"board": {"e4": piece}, **diff}})


def refusal(data: Json, dialect: Dialect, assume: Assumption | None = None) -> ConversionError:
    document = parse(data)
    with pytest.raises(ConversionError) as caught:
        convert(document, dialect, assume)
    return caught.value


PERFORM = {
    "$schema": "https://example.org/ggn.json",
    "chess:n": {"b8": {"b8": [{"perform": {"b8": "chess:n"}}]}},
    "CHESS:P": {
        "e7": {
            "e8": [
                {"require": {"e8": "empty"}, "perform": {"e7": None, "e8": "CHESS:Q"}},
                {"require": {"e8": "empty"}, "perform": {"e7": None, "e8": "CHESS:N"}},
            ],
            "d8": [{"require": {"d8": "enemy"}, "prevent": {"d8": "chess:+k"}, "perform": {"d8": "CHESS:P"}}],
        }
    },
}
DIFF = {
    "$schema": "https://example.org/ggn.json",
    "chess:n": {"b8": {"b8": [{"diff": {"board": {"b8": "chess:n"}}}]}},
    "CHESS:P": {
        "e7": {
            "e8": [
                {"must": {"e8": "empty"}, "diff": {"board": {"e7": None, "e8": "CHESS:Q"}}},
                {"must": {"e8": "empty"}, "diff": {"board": {"e7": None, "e8": "CHESS:N"}}},
            ],
            "d8": [{"must": {"d8": "enemy"}, "deny": {"d8": "chess:+k"}, "diff": {"board": {"d8": "CHESS:P"}}}],
        }
    },
}
MUST_DENY = {
    "S:R": {"a1": {"a4": [{"must": {"a4": "empty"}}, {"must": {"a4": "enemy"}, "deny": {"a4": "s:k"}}], "a1": [{}]}},
    "s:n": {"b9": {"c7": [{"deny": {}}]}},
}
HANDS = {"S:P": {"*": {"e4": [{"must": {"e4": "empty"}}]}, "e4": {"*": [{}], "e5": [{}]}}}
GDL = {
    "$state": {"ep": {"values": ["3", "none"], "initial": "none"}},
    "D:M": {
        "Alaska": {
            "*": [{"action": {"name": "leave"}, "diff": {"board": {"Alaska": None}, "hands": {"D:M": 1}}}],
            "e4": [
                {"when": {"ep": ["3"]}, "diff": {"board": {"e4": "D:M"}}},
                {"diff": {"board": {"e4": "D:M"}, "state": {"ep": "3"}}},
            ],
        }
    },
}
EXAMPLES: dict[Dialect, Json] = {"perform": PERFORM, "must-deny": MUST_DENY, "diff": DIFF, "gdl": GDL}

# --- what is kept -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("assume", [None, DISPLACEMENT])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_document_in_its_own_dialect_is_the_document_itself(dialect: Dialect, assume: Assumption | None) -> None:
    document = parse(EXAMPLES[dialect])
    assert convert(document, dialect, assume) is document


def test_perform_becomes_the_board_of_a_diff_and_passes_the_turn() -> None:
    converted = convert(parse(PERFORM), "diff")
    assert converted == parse(DIFF)
    assert converted.canonical() == parse(DIFF).canonical()


def test_a_diff_that_changes_only_the_board_becomes_perform() -> None:
    converted = convert(parse(DIFF), "perform")
    assert converted == parse(PERFORM)
    assert converted.canonical() == parse(PERFORM).canonical()


def test_there_and_back_is_the_same_document() -> None:
    assert convert(convert(parse(PERFORM), "diff"), "perform") == parse(PERFORM)
    assert convert(convert(parse(DIFF), "perform"), "diff") == parse(DIFF)


def test_empty_parts_and_a_toggle_that_is_written_out_are_no_loss() -> None:
    diff = {"board": {"e4": None}, "hands": {}, "toggle": True}
    document = parse(one("C:P", "e2", "e4", {"must": {}, "deny": {}, "diff": diff}))
    assert convert(document, "perform").data() == one("C:P", "e2", "e4", {"perform": {"e4": None}})


def test_assuming_displacement_gives_every_possibility_its_effects() -> None:
    to_a4 = {"a1": None, "a4": "S:R"}
    assert convert(parse(MUST_DENY), "diff", DISPLACEMENT).data() == {
        "S:R": {
            "a1": {
                "a4": [
                    {"must": {"a4": "empty"}, "diff": {"board": to_a4}},
                    {"must": {"a4": "enemy"}, "deny": {"a4": "s:k"}, "diff": {"board": to_a4}},
                ],
                "a1": [{"diff": {"board": {"a1": "S:R"}}}],
            }
        },
        "s:n": {"b9": {"c7": [{"diff": {"board": {"b9": None, "c7": "s:n"}}}]}},
    }
    assert convert(parse(MUST_DENY), "perform", DISPLACEMENT).data() == {
        "S:R": {
            "a1": {
                "a4": [
                    {"require": {"a4": "empty"}, "perform": to_a4},
                    {"require": {"a4": "enemy"}, "prevent": {"a4": "s:k"}, "perform": to_a4},
                ],
                "a1": [{"perform": {"a1": "S:R"}}],
            }
        },
        "s:n": {"b9": {"c7": [{"perform": {"b9": None, "c7": "s:n"}}]}},
    }


def test_assumed_moves_from_and_to_the_hand_are_counted_there() -> None:
    assert convert(parse(HANDS), "diff", DISPLACEMENT).data() == {
        "S:P": {
            "*": {"e4": [{"must": {"e4": "empty"}, "diff": {"board": {"e4": "S:P"}, "hands": {"S:P": -1}}}]},
            "e4": {
                "*": [{"diff": {"board": {"e4": None}, "hands": {"S:P": 1}}}],
                "e5": [{"diff": {"board": {"e4": None, "e5": "S:P"}}}],
            },
        }
    }


def test_nothing_is_assumed_where_the_document_gives_effects() -> None:
    assert convert(parse(PERFORM), "diff", DISPLACEMENT) == parse(DIFF)


@pytest.mark.parametrize(("origin", "dialect"), [("perform", "diff"), ("diff", "perform"), ("must-deny", "diff")])
def test_order_and_envelope_are_kept(origin: Dialect, dialect: Dialect) -> None:
    envelope = Envelope(title="Chess", source="a book", start="8/8/8/8/8/8/8/8 / C/c", board="9x9")
    document = parse({**EXAMPLES[origin], "$schema": "urn:x"}, envelope=envelope)
    converted = convert(document, dialect, DISPLACEMENT)
    assert converted.envelope == replace(envelope, schema="urn:x")
    assert converted.board.shape == (9, 9)
    assert places(converted) == places(document)


def places(document: Document) -> list[Json]:
    return [
        (piece.identifier, source.square, destination.square, ordinal, possibility.must, possibility.deny)
        for piece in document.pieces
        for source, destination, ordinal, possibility in piece.entries()
    ]


# --- what would be lost -------------------------------------------------------------------------------------

OPEN = (
    "that the document leaves open what a move changes, which {} cannot "
    "(--assume displacement, in Python assume='displacement', writes plain displacement)"
)
NO_CELL = "which is not a CELL label such as e4 or a1A"
NO_MARKS = "because perform has no markers ^ and '"
NO_EFFECTS = "the effects, because must-deny has none"
FROM_HAND = "the moves from the hand, because perform has no hands"
TO_HAND = "the moves to the hand, because perform has no hands"
IN_HANDS = "what changes in the hands, because perform has no hands"
TURN = "that the turn stays, because in perform it always passes"
NOTHING = "a move that changes nothing on the board, because perform has to change something"

LOSSES: list[tuple[str, Dialect, Assumption | None, Json, list[str]]] = [
    ("must-deny to diff", "diff", None, MUST_DENY, [OPEN.format("diff")]),
    ("must-deny to perform", "perform", None, MUST_DENY, [OPEN.format("perform")]),
    (
        "a hand and no choice of effects",
        "perform",
        None,
        HANDS,
        [OPEN.format("perform"), f"/S:P/*: {FROM_HAND}", f"/S:P/e4/*: {TO_HAND}"],
    ),
    ("the hand", "perform", DISPLACEMENT, HANDS, [f"/S:P/*: {FROM_HAND}", f"/S:P/e4/*: {TO_HAND}"]),
    (
        "the hand, met often",
        "perform",
        DISPLACEMENT,
        {"S:P": {"*": {"e4": [{}, {}], "e5": [{}]}, "e4": {"*": [{}, {}]}}},
        [f"/S:P/*: {FROM_HAND}", f"/S:P/e4/*: {TO_HAND}"],
    ),
    (
        "a square as the source",
        "diff",
        None,
        one("C:P", "5e", "e4", {"perform": {"e4": None, "5e": None}}),
        [f'/C:P/5e: the square "5e", {NO_CELL}'],
    ),
    (
        "squares everywhere",
        "diff",
        None,
        one(
            "C:P",
            "e2",
            "D",
            {"require": {"B": "enemy"}, "prevent": {"a/c": "C:K"}, "perform": {"e2": None, "A\n": None}},
        ),
        [
            f'/C:P/e2/D: the square "D", {NO_CELL}',
            f'/C:P/e2/D/0/require/B: the square "B", {NO_CELL}',
            f'/C:P/e2/D/0/prevent/a~1c: the square "a/c", {NO_CELL}',
            f'/C:P/e2/D/0/perform/A\\n: the square "A\\n", {NO_CELL}',
        ],
    ),
    (
        "squares and effects",
        "must-deny",
        None,
        one("C:P", "e2", "E4", {"perform": {"e2": None, "B": None}}, {"perform": {"B": None}}),
        [
            f'/C:P/e2/E4: the square "E4", {NO_CELL}',
            f"/C:P/e2/E4/0/perform: {NO_EFFECTS}",
            f"/C:P/e2/E4/1/perform: {NO_EFFECTS}",
        ],
    ),
    ("the effects of a diff", "must-deny", DISPLACEMENT, drop(), [f"/S:P/*/e4/0/diff: {NO_EFFECTS}"]),
    (
        "an empty diff too",
        "must-deny",
        None,
        one("C:P", "a1", "a2", {"diff": {}}),
        [f"/C:P/a1/a2/0/diff: {NO_EFFECTS}"],
    ),
    ("a drop without hands", "perform", None, drop(), [f"/S:P/*: {FROM_HAND}"]),
    (
        "a drop",
        "perform",
        None,
        drop(hands={"S:P": -1}),
        [f"/S:P/*: {FROM_HAND}", f"/S:P/*/e4/0/diff/hands: {IN_HANDS}"],
    ),
    (
        "a capture to the hand",
        "perform",
        None,
        one("S:P", "e4", "e5", {"diff": {"board": {"e4": None}, "hands": {"S:+P'": 1}}}),
        [f"/S:P/e4/e5/0/diff/hands: {IN_HANDS}"],
    ),
    (
        "a turn that stays",
        "perform",
        None,
        one("C:P", "e4", "e5", {"diff": {"board": {"e4": None}}}, {"diff": {"board": {"e4": None}, "toggle": False}}),
        [f"/C:P/e4/e5/1/diff/toggle: {TURN}"],
    ),
    (
        "boards that stay",
        "perform",
        None,
        one("C:P", "e4", "e5", {"diff": {}}, {"diff": {"board": {}, "toggle": False}}),
        [f"/C:P/e4/e5/0/diff: {NOTHING}", f"/C:P/e4/e5/1/diff/toggle: {TURN}", f"/C:P/e4/e5/1/diff: {NOTHING}"],
    ),
    (
        "pieces with markers, each once",
        "perform",
        None,
        {
            **one("C:K^", "e1", "e2", {"diff": {"board": {"e2": "C:K^", "e1": None}}}),
            **one(
                *("C:Q", "e1", "e2"),
                {
                    "must": {"e2": "c:k^", "e3": "empty"},
                    "deny": {"e2": "C:K^", "e3": "enemy"},
                    "diff": {"board": {"e1": "C:Q'", "e2": "C:Q"}},
                },
            ),
        },
        [
            f'/C:K^: the piece "C:K^", {NO_MARKS}',
            f'/C:Q/e1/e2/0/must/e2: the piece "c:k^", {NO_MARKS}',
            f'/C:Q/e1/e2/0/diff/board/e1: the piece "C:Q\'", {NO_MARKS}',
        ],
    ),
    (
        "a forbidden piece with a marker and no choice of effects",
        "perform",
        None,
        one("C:R", "a1", "a8", {"deny": {"a8": "c:k^"}}),
        [OPEN.format("perform"), f'/C:R/a1/a8/0/deny/a8: the piece "c:k^", {NO_MARKS}'],
    ),
]


@pytest.mark.parametrize(
    ("dialect", "assume", "data", "losses"), [row[1:] for row in LOSSES], ids=[r[0] for r in LOSSES]
)
def test_everything_that_would_be_lost_is_named(
    dialect: Dialect, assume: Assumption | None, data: Json, losses: list[str]
) -> None:
    error = refusal(data, dialect, assume)
    assert list(error.losses) == losses
    assert f"would lose {len(losses)} thing" in str(error)
    assert all(loss in str(error) for loss in losses[:5])


def test_a_refusal_says_how_many_shows_the_first_and_how_to_mend() -> None:
    data = one("C:P", "e2", "e4", *[{"perform": {"e2": None}}] * 1_007)
    error = refusal(data, "must-deny")
    assert len(error.losses) == 1_007
    assert str(error).splitlines() == [
        "written as must-deny, the perform document would lose 1,007 things:",
        *(f"  /C:P/e2/e4/{ordinal}/perform: {NO_EFFECTS}" for ordinal in range(5)),
        "  and 1,002 more",
        "change the document there first, or keep it as perform",
    ]
    assert str(refusal(drop(), "perform")).splitlines() == [
        "written as perform, the diff document would lose 1 thing:",
        f"  /S:P/*: {FROM_HAND}",
        "change the document there first, or keep it as diff",
    ]


def test_an_assumption_that_is_none_is_not_taken_for_one() -> None:
    with pytest.raises(ConversionError, match="leaves open"):
        convert(parse(MUST_DENY), "diff", "teleport")  # type: ignore[arg-type]


def test_an_unknown_dialect_is_refused_by_name() -> None:
    with pytest.raises(NotationError, match='"gain" is not a dialect: perform, must-deny, diff'):
        convert(parse(DIFF), "gain")  # type: ignore[arg-type]


# --- any document -------------------------------------------------------------------------------------------


def entries(data: Json) -> Iterator[tuple[str, str, str, Json]]:
    for piece, sources in data.items():
        for source, destinations in sources.items() if not piece.startswith("$") else ():
            for destination, possibilities in destinations.items():
                for possibility in possibilities:
                    yield piece, source, destination, possibility


def is_lossless(data: Json, origin: Dialect, dialect: Dialect, assume: Assumption | None) -> bool:
    """Whether a conversion should succeed, by the text of a document that has been parsed."""
    if origin == dialect:
        return True
    if dialect == "must-deny" or (origin == "must-deny" and assume is None):
        return False
    if dialect == "gdl" or (origin == "must-deny" and dialect == "diff"):
        return True
    for piece, source, destination, possibility in entries(data):
        parts = [possibility.get(key, {}) for key in ("require", "prevent", "perform", "must", "deny")]
        diff = possibility.get("diff", {})
        if possibility.get("when") or diff.get("state"):
            return False
        if dialect == "diff":
            named = {source, destination, *(square for part in (*parts, diff.get("board", {})) for square in part)}
            if not all(map(checker.is_cell, named - ({"*"} if origin == "gdl" else set()))):
                return False
            continue
        states = [piece, *(state for part in (*parts, diff.get("board", {})) for state in part.values() if state)]
        if "*" in (source, destination) or any(mark in state for state in states for mark in "^'"):
            return False
        if origin in ("diff", "gdl") and (diff.get("hands") or not diff.get("board") or diff.get("toggle") is False):
            return False
    return True


def board_only(data: Json) -> Json:
    """A `diff`, `gdl` or `must-deny` document with all that `perform` cannot say taken out."""
    text = json.dumps(stateless(data)).replace("^", "").replace("'", "").replace('"toggle": false', '"toggle": true')
    result: Json = {}
    for piece, source, destination, possibility in entries(json.loads(text)):
        if "*" not in (source, destination):
            # Pieces that only their markers told apart are the same now.
            must, deny = possibility.get("must", {}), possibility.get("deny", {})
            possibility["deny"] = {square: state for square, state in deny.items() if must.get(square) != state}
            possibility["must"] = {
                square: state for square, state in must.items() if (square, state) != (source, piece)
            }
            if "diff" in possibility:
                possibility["diff"].pop("hands", None)
                possibility["diff"]["board"] = possibility["diff"].get("board") or {"a": None}
            result.setdefault(piece, {}).setdefault(source, {}).setdefault(destination, []).append(possibility)
    return result


def anonymous(document: Document) -> Document:
    """What is left of a `gdl` document in which nobody asks for its variables, without the names of its actions."""
    data = document.data() | {"$state": {}}
    for *_, possibility in entries(data):
        possibility.pop("action", None)
    return parse(data, "gdl")


def test_another_dialect_names_no_actions_and_says_so() -> None:
    data = one("D:M", "e2", "e4", {"action": {"name": "jump", "chainable": True}, "diff": {"board": {"e4": None}}})
    document = parse({"$state": {"ep": {"values": ["3"], "initial": "3"}}, **data})
    converted = convert(document, "diff")
    assert converted.data() == one("D:M", "e2", "e4", {"diff": {"board": {"e4": None}}})
    assert converted.envelope.variables is None
    assert left_out(document, "diff") == [
        "diff does not say which action a move comes from: jump",
        "diff declares no state variables, and no rule names these: ep",
    ]
    assert left_out(document, "gdl") == left_out(converted, "perform") == []


def test_guards_new_values_and_labels_are_losses_with_their_places() -> None:
    with pytest.raises(ConversionError) as caught:
        convert(parse(GDL), "diff")
    assert caught.value.losses == (
        '/D:M/Alaska: the square "Alaska", which is not a CELL label such as e4 or a1A',
        '/D:M/Alaska/e4/0/when/ep: the guard on "ep", because diff has no state variables',
        '/D:M/Alaska/e4/1/diff/state/ep: the new value of "ep", because diff has no state variables',
    )
    with pytest.raises(ConversionError) as caught:
        convert(parse(GDL), "perform")
    assert len(caught.value.losses) == 4


def test_every_document_of_another_dialect_is_one_of_gdl() -> None:
    assert convert(parse(DIFF), "gdl").data() == {"$state": {}, **parse(DIFF).data()}
    assert convert(convert(parse(PERFORM), "gdl"), "perform") == parse(PERFORM)


def pointers(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[str]:
    yield printable(pointer(path))
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from pointers(member, (*path, key))


@pytest.mark.parametrize("origin", DIALECTS)
def test_any_document_is_converted_without_loss_or_refused_with_its_places(origin: Dialect) -> None:
    outcomes = set()

    @settings(max_examples=16, suppress_health_check=list(HealthCheck))
    @given(documents(origin), st.booleans(), st.sampled_from((None, DISPLACEMENT)))
    def hold(data: Json, plain: bool, assume: Assumption | None) -> None:
        if plain and origin != "perform":
            data = board_only(data) or data
        document = parse(data, origin)
        for dialect in DIALECTS:
            lossless = is_lossless(data, origin, dialect, assume)
            outcomes.add((dialect, lossless))
            if lossless:
                converted = convert(document, dialect, assume)
                assert problems(converted.canonical(), dialect) == []
                assert parse(converted.canonical(), dialect) == converted
                assert places(converted) == places(document)
                if origin == "gdl" != dialect:
                    assert convert(converted, origin) == anonymous(document)
                elif origin != "must-deny":
                    assert convert(converted, origin) == document
            else:
                with pytest.raises(ConversionError) as caught:
                    convert(document, dialect, assume)
                losses = caught.value.losses
                known = {*pointers(document.data())}
                assert losses
                assert len(set(losses)) == len(losses)
                assert all(loss.split(": ")[0] in known or loss == OPEN.format(dialect) for loss in losses)

    hold()
    expected = {(dialect, verdict) for dialect in DIALECTS for verdict in (True, False)}
    if origin != "must-deny":
        expected.discard(("gdl", False))
    assert outcomes == expected - {(origin, False), ("must-deny", origin != "must-deny")}
