"""Two documents that came from one are made into one again, or into conflicts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import Document, is_valid, parse
from ggn_store.model.changes import order
from ggn_store.model.changes.diff import diff
from ggn_store.model.changes.merge import Conflict, Merge, merge
from ggn_store.model.documents.document import Envelope
from ggn_store.render.diff import conflicts_text, merge_text
from tests.oracles.merging import expected_merge
from tests.support.comparison import KEYS, MANY, document, same
from tests.support.edits import Draft, Fields, Plain, drafts, edited, fields_of, normal, plain, plain_of
from tests.support.strategies import DIALECTS, Entry, Json, entries, named, possibilities
from tests.support.unhurried import unhurried

A, B, C = {"must": {"a1": "empty"}}, {"must": {"b1": "empty"}}, {"must": {"c1": "empty"}}


def king(**to: Any) -> dict[str, Any]:
    """A document of one piece and source: destinations with their possibilities."""
    return {"C:K": {"e1": to}}


def merged(base: Any, ours: Any, theirs: Any) -> Any:
    """What becomes of three documents: JSON, or the paths of the conflicts."""
    found = merge(None if base is None else document(base), document(ours), document(theirs))
    return [conflict.path for conflict in found.conflicts] if found.document is None else found.document.data()


TWO = {"C:K": {"e1": {"e2": [A]}, "d1": {"d2": [B]}}, "C:Q": {"d1": {"d2": [C]}}}
Rule = tuple[Any, Any, Any, Any]
RULES: dict[str, Rule] = {
    "each side changes another entry": (
        king(e2=[A], d2=[A]),
        king(e2=[B], d2=[A]),
        king(e2=[A], d2=[C]),
        king(e2=[B], d2=[C]),
    ),
    "both change one entry alike": (
        king(e2=[A], d2=[A]),
        king(e2=[B], d2=[A]),
        king(e2=[B], d2=[A]),
        king(e2=[B], d2=[A]),
    ),
    "both change one entry differently": (king(e2=[A]), king(e2=[B]), king(e2=[C]), [("C:K", "e1", "e2")]),
    "both order one entry differently": (
        king(e2=[A, B, C]),
        king(e2=[B, A, C]),
        king(e2=[A, C, B]),
        [("C:K", "e1", "e2")],
    ),
    "both add one entry alike": (king(e2=[A]), king(e2=[A], d2=[B]), king(e2=[A], d2=[B]), king(e2=[A], d2=[B])),
    "both add one entry differently": (king(e2=[A]), king(e2=[A], d2=[B]), king(e2=[A], d2=[C]), [("C:K", "e1", "d2")]),
    "one removes what the other changes": (
        king(e2=[A], d2=[A]),
        king(d2=[A]),
        king(e2=[B], d2=[A]),
        [("C:K", "e1", "e2")],
    ),
    "one removes what the other leaves": (king(e2=[A], d2=[A]), king(d2=[A]), king(e2=[A], d2=[B]), king(d2=[B])),
    "both remove one entry": (king(e2=[A], d2=[A]), king(d2=[A]), king(d2=[A]), king(d2=[A])),
    "sources and pieces that lose their last entry are gone": (
        TWO,
        {"C:K": {"d1": {"d2": [B]}}, "C:Q": {"d1": {"d2": [C]}}},
        {"C:K": {"e1": {"e2": [A]}}, "C:Q": {"d1": {"d2": [C]}}},
        {"C:Q": {"d1": {"d2": [C]}}},
    ),
    "an entry that one side adds stays where the other removes the piece": (
        TWO,
        {"C:Q": {"d1": {"d2": [C]}}},
        {"C:K": {"e1": {"e2": [A], "e3": [A]}, "d1": {"d2": [B]}}, "C:Q": {"d1": {"d2": [C]}}},
        {"C:K": {"e1": {"e3": [A]}}, "C:Q": {"d1": {"d2": [C]}}},
    ),
    "one removes a piece of which the other changes an entry": (
        TWO,
        {"C:Q": {"d1": {"d2": [C]}}},
        {"C:K": {"e1": {"e2": [A]}, "d1": {"d2": [A]}}, "C:Q": {"d1": {"d2": [C]}}},
        [("C:K", "d1", "d2")],
    ),
    "the two together leave nothing": (
        TWO,
        {"C:K": TWO["C:K"]},
        {"C:Q": TWO["C:Q"]},
        [()],
    ),
    "nothing in common, and no entry of both that differs": (
        None,
        {"C:K": {"e1": {"e2": [A], "e3": [B]}}},
        {"C:Q": {"e1": {"e2": [A]}}, "C:K": {"e1": {"e2": [A], "e4": [B]}}},
        {"C:Q": {"e1": {"e2": [A]}}, "C:K": {"e1": {"e2": [A], "e3": [B], "e4": [B]}}},
    ),
    "nothing in common, and entries of both that differ": (
        None,
        king(e2=[A], e3=[A], e4=[A]),
        king(e2=[B], e3=[A], e4=[A, A]),
        [("C:K", "e1", "e2"), ("C:K", "e1", "e4")],
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), RULES.values(), ids=list(RULES))
def test_entries_are_merged_by_these_rules(base: Any, ours: Any, theirs: Any, expected: Any) -> None:
    assert merged(base, ours, theirs) == expected
    assert merged(base, theirs, ours) == expected


def perform(*to: str) -> str:
    return json.dumps({"CHESS:P": {"a": {square: [{"perform": {"a": None}}] for square in to}}})


GOAL = '{"outcome":[{"when":"goal","verdict":"win","squares":["e3"]}]}'

FIELDS: dict[str, tuple[Any, Any, Any, Any]] = {
    # Each: content and fields of base, ours and theirs; what the field is, or which fields conflict.
    "one side changes a title": (({}, {"title": "A"}), ({}, {"title": "B"}), ({}, {"title": "A"}), {"title": "B"}),
    "one side leaves a title out": (({}, {"title": "A"}), ({}, {}), ({"e3": [A]}, {"title": "A"}), {}),
    "both change a title differently": (({}, {"title": "A"}), ({}, {"title": "B"}), ({}, {"title": "C"}), ["title"]),
    "one changes and one leaves out": (({}, {"title": "A"}), ({}, {"title": "B"}), ({}, {}), ["title"]),
    "different fields": (({}, {}), ({}, {"title": "B"}), ({}, {"source": "C"}), {"title": "B", "source": "C"}),
    "a definition alone": (
        ({}, {"definition": "1"}),
        ({"e3": [A]}, {"definition": "2"}),
        ({}, {"definition": "1", "title": "B"}),
        {"definition": "2", "title": "B"},
    ),
    "a definition, and entries on the other side": (
        ({}, {"definition": "1"}),
        ({"e3": [A]}, {"definition": "2"}),
        ({"e4": [A]}, {"definition": "1"}),
        ["definition"],
    ),
    "a definition, and on the other side some of the entries that it gives": (
        ({}, {"definition": "1"}),
        ({"e3": [A], "e4": [A]}, {"definition": "2"}),
        ({"e4": [A]}, {"definition": "1"}),
        {"definition": "2"},
    ),
    "a definition left out, and entries on the other side": (
        ({}, {"definition": "1"}),
        ({"e3": [A]}, {}),
        ({"e4": [A]}, {"definition": "1"}),
        {},
    ),
    "one new definition, and different entries": (
        ({}, {"definition": "1"}),
        ({"e3": [A]}, {"definition": "2"}),
        ({"e4": [A]}, {"definition": "2"}),
        ["definition"],
    ),
    "a definition that nobody changed": (
        ({}, {"definition": "1"}),
        ({"e3": [A]}, {"definition": "1"}),
        ({"e4": [A]}, {"definition": "1"}),
        {"definition": "1"},
    ),
    "a board that holds the other side's entries": (
        ({}, {"board": "8x8"}),
        ({}, {"board": "8x4"}),
        ({"h4": [A]}, {"board": "8x8"}),
        {"board": "8x4"},
    ),
    "a board too small for the other side's entries": (
        ({}, {"board": "8x8"}),
        ({}, {"board": "8x4"}),
        ({"h5": [A]}, {"board": "8x8"}),
        ["board"],
    ),
    "a board too small for the other side's start": (
        ({}, {"board": "8x8"}),
        ({}, {"board": "5x5"}),
        ({}, {"board": "8x8", "start": "7K/8/8/8/8/8/8/8 / C/c"}),
        ["board"],
    ),
    "play on a square that the other side removed": (
        ({"e3": [A]}, {}),
        ({"e3": [A]}, {"play": GOAL}),
        ({"e4": [A]}, {}),
        ["play"],
    ),
    "play on a square that stays": (
        ({"e3": [A], "e4": [A]}, {}),
        ({"e3": [A], "e4": [A]}, {"play": GOAL}),
        ({"e3": [A]}, {}),
        {"play": GOAL},
    ),
    "different boards of both sides": (
        ({}, {"board": "8x8"}),
        ({}, {"board": "5x5"}),
        ({}, {"board": "6x8"}),
        ["board"],
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), FIELDS.values(), ids=list(FIELDS))
def test_fields_are_merged_by_these_rules(base: Any, ours: Any, theirs: Any, expected: Any) -> None:
    one, left, right = (document({"C:K": {"e1": {"e2": [A], **to}}}, **fields) for to, fields in (base, ours, theirs))
    for found in (merge(one, left, right), merge(one, right, left)):
        if found.document is None:
            assert [conflict.path for conflict in found.conflicts] == [(name,) for name in expected]
        else:
            assert found.document.envelope == Envelope(**expected)


def test_a_new_definition_stands_where_the_other_side_changed_orders_only() -> None:
    base, theirs = document(king(e2=[A], d2=[A]), definition="1"), document(king(d2=[A], e2=[A]), definition="1")
    ours = document(king(e2=[A], d2=[B]), definition="2")
    found = merge(base, ours, theirs).document
    assert found is not None
    assert same(found, document(king(d2=[B], e2=[A]), definition="2"))


def test_another_dialect_conflicts_with_entries_that_the_other_side_changed() -> None:
    base = parse(perform("b"))
    moves = parse('{"CHESS:P":{"a":{"b":[{"diff":{"board":{"a":null}}}]}}}')
    more = parse('{"CHESS:P":{"a":{"b":[{"diff":{"board":{"a":null}}}], "d":[{"diff":{}}]}}}')
    assert [each.path for each in merge(base, moves, parse(perform("b", "c"))).conflicts] == [("dialect",)]
    assert [each.path for each in merge(base, parse(perform("b", "c")), moves).conflicts] == [("dialect",)]
    assert [each.path for each in merge(None, moves, base).conflicts] == [("dialect",)]
    assert merge(base, more, base).document == more
    assert merge(base, moves, more).document == more
    titled = parse(perform("b"), envelope=Envelope(title="T"))
    with_both = merge(base, titled, more).document
    assert with_both is not None
    assert (with_both.dialect, with_both.envelope.title, with_both.pieces) == ("diff", "T", more.pieces)


LOST = '{"outcome":[{"when":"extinct","verdict":"loss","pieces":["C:Q"]}]}'
LAST = '{"duties":[{"name":"last-actions","pieces":["skip"]}]}'
SKIP = {"action": {"name": "skip"}, "diff": {}}


@pytest.mark.parametrize(
    ("declared", "more", "reason"),
    [
        (LOST, {"C:Q": {"d1": {"d2": [{"diff": {}}]}}}, "names C:Q, which"),
        (LAST, {"C:K": {"e1": {"e3": [SKIP]}}}, "names skip, which"),
    ],
)
@pytest.mark.parametrize("prefer", ["ours", "theirs"])
def test_play_names_what_the_merged_document_has(declared: str, more: Json, reason: str, prefer: Any) -> None:
    less: Json = {"$state": {}, "C:R": {"e1": {"e2": [{"diff": {}}]}}}
    base, ours, theirs = document(less | more), document(less | more, play=declared), document(less)
    for found in (merge(base, ours, theirs), merge(base, theirs, ours)):
        [conflict] = found.conflicts
        assert (conflict.path, reason in str(conflict.reason)) == (("play",), True)
    assert merge(base, ours, theirs, prefer=prefer).document == (ours if prefer == "ours" else theirs)
    # A side that never had it all has been stored before, and nothing becomes worse.
    never = replace(theirs, envelope=Envelope(play=declared))
    assert merge(base, never, theirs).document == never


def test_a_start_position_names_the_variables_of_the_merged_document() -> None:
    phase = {"$state": {"phase": {"values": ["main", "setup"], "initial": "setup"}}}
    content: Json = {"C:K": {"e1": {"e2": [{"diff": {}}]}}}
    begun = '{"board":{"e1":"C:K"},"state":{"phase":"main"}}'
    base, ours, theirs = (
        document(phase | content),
        document({"$state": {}} | content),
        document(phase | content, start=begun),
    )
    for found in (merge(base, ours, theirs), merge(base, theirs, ours)):
        assert [conflict.path for conflict in found.conflicts] == [("variables",)]


ORDERS = {
    "both add after one neighbour": ("ab", "axb", "ayb", "axyb"),
    "each adds elsewhere": ("ab", "xab", "aby", "xaby"),
    "both move other keys": ("abcd", "bacd", "abdc", "badc"),
    "only our side moves": ("abcd", "dabc", "abcdx", "dabcx"),
    "both move one key": ("abc", "cab", "acb", "acb"),
    "our addition stands after what theirs removed": ("abc", "abxc", "ac", "axc"),
    "a moved key is gone": ("abcd", "dabc", "abc", "abc"),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "expected"), ORDERS.values(), ids=list(ORDERS))
def test_orders_are_merged_by_these_rules(base: str, ours: str, theirs: str, expected: str) -> None:
    def pieces(letters: str) -> dict[str, Any]:
        return {f"C:{letter.upper()}": {"e1": {"e2": [A]}} for letter in letters}

    assert list(merged(pieces(base), pieces(ours), pieces(theirs))) == list(pieces(expected))
    for nest in (
        lambda keys: {"C:K": {f"{key}1": {"e2": [A]} for key in keys}},
        lambda keys: king(**{key: [A] for key in keys}),
    ):
        content = merged(nest(base), nest(ours), nest(theirs))
        assert json.dumps(content) == json.dumps(nest(expected))


@unhurried(300)
@given(base=KEYS, one=KEYS, other=KEYS)
def test_an_order_that_one_side_changed_is_that_sides(base: list[str], one: list[str], other: list[str]) -> None:
    assert order.merged(base, one, base, one) == one
    assert order.merged(base, base, one, one) == one
    assert order.merged(base, one, one, one) == one
    kept = {*one, *other}
    assert sorted(order.merged(base, one, other, kept)) == sorted(kept)


@unhurried(200)
@given(data=st.data(), base=KEYS)
def test_what_both_sides_only_added_to_keeps_both_orders(data: st.DataObject, base: list[str]) -> None:
    ours, theirs = list(base), list(base)
    for key, side in zip("ijklmn", data.draw(st.permutations([ours] * 3 + [theirs] * 3)), strict=True):
        side.insert(data.draw(st.integers(0, len(side))), key)
    found = order.merged(base, ours, theirs, {*ours, *theirs})
    assert [key for key in found if key in ours] == ours
    assert [key for key in found if key in theirs] == theirs


# --- random edits, and what plain dictionaries say ---


def check(found: Merge, kept: Plain, fields: Fields, conflicts: set[tuple[str, ...]], dialect: str) -> None:
    assert [each.path for each in found.conflicts] == sorted(conflicts, key=lambda path: (len(path), path))
    assert (found.document is None) == bool(conflicts)
    if found.document is not None:
        assert plain_of(found.document) == kept
        assert found.document.envelope == Envelope(**fields)
        assert is_valid(found.document.canonical(), dialect)  # type: ignore[arg-type]


def check_conflicts(found: Merge, base: Draft, ours: Draft, theirs: Draft) -> None:
    """A conflict has what each side has."""
    for conflict in found.conflicts:
        for side, draft in (("base", base), ("ours", ours), ("theirs", theirs)):
            value = conflict.data().get(side)
            if len(conflict.path) == 3:
                held = {
                    (p.identifier, s.square, d.square): d.possibilities
                    for p in draft.document().pieces
                    for s in p.sources
                    for d in s.destinations
                }
                assert getattr(conflict, side) == held.get(conflict.path)
                assert (value is None) == (conflict.path not in plain(draft))
            elif conflict.path:
                assert value == fields_of(draft).get(conflict.path[0])


def agreement(dialect: str, examples: int, seen: dict[str, int]) -> None:
    @unhurried(examples)
    @given(data=st.data())
    def agree(data: st.DataObject) -> None:
        base = data.draw(drafts(dialect))
        ours = data.draw(edited(base))
        theirs = data.draw(edited(base, ours))
        one, left, right = base.document(), ours.document(), theirs.document()
        found, swapped = merge(one, left, right), merge(one, right, left)
        expected = expected_merge(base, ours, theirs)
        check(found, *expected, dialect)
        check(swapped, *expected, dialect)
        check_conflicts(found, base, ours, theirs)
        assert (found.ours, found.theirs) == (diff(one, left), diff(one, right))
        nothing = Draft(dialect, {}, {})
        check(merge(None, left, right), *expected_merge(nothing, ours, theirs), dialect)
        for side in (left, right):
            for alike in (
                merge(one, side, one),
                merge(one, one, side),
                merge(one, side, side),
                merge(None, side, side),
            ):
                assert alike.document is not None
                assert same(alike.document, side)
        changed = left != one and right != one and left != right
        seen["merged"] += changed and not found.conflicts
        seen["conflicts"] += bool(found.conflicts)

    agree()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_merges_and_conflicts_are_those_of_plain_dictionaries(dialect: str) -> None:
    seen = {"merged": 0, "conflicts": 0}
    agreement(dialect, 70 if dialect == "gdl" else 50, seen=seen)
    assert min(seen.values()) >= 3, "too few documents that merge, or that do not, to show anything"


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_merges_and_conflicts_are_those_of_plain_dictionaries_many_times(dialect: str) -> None:
    agreement(dialect, -(-MANY // 3), seen={"merged": 0, "conflicts": 0})


Edits = dict[Entry, list[Json] | None]


def apply_edits(content: Json, edits: Edits) -> Json:
    """The content of a document with entries set and removed, by hand."""
    result: Json = {piece: value for piece, value in content.items() if piece.startswith("$")}
    flat: dict[Entry, Any] = {entry: content[entry[0]][entry[1]][entry[2]] for entry in entries(content)}
    flat |= edits
    for (piece, source, destination), value in flat.items():
        if value is not None:
            result.setdefault(piece, {}).setdefault(source, {})[destination] = value
    return result


def both_edits(dialect: str, examples: int) -> None:
    @unhurried(examples)
    @given(data=st.data())
    def agree(data: st.DataObject) -> None:
        base = data.draw(drafts(dialect))
        squares, pieces = named(base.content)
        anywhere = st.tuples(*map(st.sampled_from, (pieces, squares, squares)))
        touched = data.draw(
            st.lists(st.one_of(st.sampled_from(entries(base.content)), anywhere), min_size=2, max_size=8, unique=True)
        )
        edits: Edits = {
            entry: data.draw(
                st.none() | st.lists(possibilities(dialect, entry, squares, pieces), min_size=1, max_size=3)
            )
            for entry in touched
        }
        half = data.draw(st.integers(1, len(touched) - 1))
        of_ours = {entry: edits[entry] for entry in touched[:half]}
        of_theirs = {entry: edits[entry] for entry in touched[half:]}
        sides = [apply_edits(base.content, each) for each in (of_ours, of_theirs, edits)]
        if not all(is_valid(json.dumps(side), dialect) for side in sides):  # type: ignore[arg-type]
            return
        ours, theirs, both = (Draft(dialect, side, {}).document() for side in sides)
        found = merge(Draft(dialect, base.content, {}).document(), ours, theirs)
        assert found.conflicts == ()
        assert found.document is not None
        assert plain_of(found.document) == plain_of(both)

    agree()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_merge_of_edits_of_different_entries_is_both_edits_applied(dialect: str) -> None:
    both_edits(dialect, 8)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_merge_of_edits_of_different_entries_is_both_edits_applied_many_times(dialect: str) -> None:
    both_edits(dialect, -(-MANY // 3))


def test_the_plain_form_of_a_possibility_takes_no_difference_that_means_nothing() -> None:
    assert normal({"deny": {}, "must": {"b1": "empty", "a1": "enemy"}}) == normal(
        {"must": {"a1": "enemy", "b1": "empty"}}
    )
    assert normal({"diff": {"board": {}, "toggle": True}}) == normal({"diff": {}})
    assert normal({"diff": {"toggle": False}}) != normal({"diff": {}})


# --- what is told ---


def test_both_sides_are_told_piece_by_piece_and_then_the_conflicts() -> None:
    base = document(king(e2=[A], d2=[A]), title="T")
    ours = document(king(e2=[B], d2=[A]), title="Ours")
    theirs = document(king(d2=[A, B]), title="Theirs")
    found = merge(base, ours, theirs)
    assert "".join(merge_text(found)).splitlines() == [
        "  ours: 1 piece, 1 entry: 1 possibility added, 1 removed; title changed",
        '~   title: "T" -> "Ours"',
        *("~   C:K", "~     e1", "-       e2 must a1=empty", "+       e2 must b1=empty"),
        "  theirs: 1 piece, 2 entries: 1 possibility added, 1 removed; title changed",
        '~   title: "T" -> "Theirs"',
        *("~   C:K", "~     e1", "-       e2 must a1=empty", "+       d2 must b1=empty"),
        "  2 conflicts:",
        *("! title", '    base:   "T"', '    ours:   "Ours"', '    theirs: "Theirs"'),
        *("! C:K e1 e2", "    base:   e2 must a1=empty", "    ours:   e2 must b1=empty", "    theirs: (nothing)"),
    ]
    assert "\x1b[31m! title\x1b[0m\n" in list(merge_text(found, color=True))
    assert found.data()["conflicts"] == [
        {"field": "title", "base": "T", "ours": "Ours", "theirs": "Theirs", "reason": None},
        {
            "piece": "C:K",
            "source": "e1",
            "destination": "e2",
            "base": [A],
            "ours": [B],
            "theirs": None,
            "reason": None,
        },
    ]


def test_conflicts_of_long_and_of_missing_values_are_told() -> None:
    found = (
        Conflict(("definition",), "a\nb\n", "a\n", None, "it does not give them"),
        Conflict((), None, None, None, "nothing is left"),
    )
    assert "".join(conflicts_text(found)).splitlines() == [
        "! definition: it does not give them",
        *("    base:   2 lines", "    ours:   1 line", "    theirs: (nothing)"),
        "! the document: nothing is left",
    ]
    assert found[1].data() == {"base": None, "ours": None, "theirs": None, "reason": "nothing is left"}


def test_a_merge_without_conflicts_says_so() -> None:
    base = document(king(e2=[A]))
    assert "".join(merge_text(merge(base, base, base))).splitlines() == [
        *("  ours: no changes", "  theirs: no changes", "  no conflicts"),
    ]


def test_documents_are_not_changed_by_a_merge() -> None:
    sides: list[Document] = [document(king(e2=[A], d2=[A])), document(king(e2=[B], d2=[A])), document(king(d2=[C]))]
    before = [side.canonical() for side in sides]
    merge(*sides)
    assert [side.canonical() for side in sides] == before
