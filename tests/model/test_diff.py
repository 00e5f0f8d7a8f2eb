"""What differs between two documents: said, counted, written down, applied."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import Document, parse
from ggn_store.errors import ConflictError, NotationError
from ggn_store.model.changes import order
from ggn_store.model.changes.changes import Diff, EntryChange, possibility_data
from ggn_store.model.changes.diff import Outline, apply, diff, diff_piece, diff_pieces, pieces_of
from ggn_store.model.changes.order import Insertion
from ggn_store.model.changes.possibilities import ABSENT, Detail, compare
from ggn_store.model.documents.document import Possibility
from ggn_store.notation.stn import Transition
from ggn_store.render.diff import diff_text, possibility_text
from tests.support.comparison import KEYS, MANY, document, same
from tests.support.edits import drafts, edited
from tests.support.strategies import DIALECTS, documents
from tests.support.unhurried import unhurried

PAWN = {"e2": {"e3": [{"must": {"e3": "empty"}}], "e4": [{"must": {"e3": "empty", "e4": "empty"}}]}}
PAWNS = {"C:P": PAWN, "c:p": {"e7": {"e6": [{"must": {"e6": "empty"}}]}}}


def text(difference: Diff) -> list[str]:
    return [line.removesuffix("\n") for line in diff_text(difference)]


# --- what is said ---

Case = tuple[dict[str, Any], dict[str, Any], str, list[str]]
CHANGES: dict[str, Case] = {
    "nothing": (PAWNS, PAWNS, "no changes", []),
    "a condition": (
        {"C:P": {"e2": {"e4": [{"must": {"e3": "empty"}, "deny": {"e4": "C:P"}}]}}},
        {"C:P": {"e2": {"e4": [{"must": {"e3": "enemy"}}]}}},
        "1 piece, 1 entry: 1 possibility changed",
        [
            *("~ C:P", "~   e2", "~     e4 must e3=enemy"),
            *("-       must e3=empty", "+       must e3=enemy", "-       deny e4=C:P"),
        ],
    ),
    "a possibility more and one less": (
        {"C:P": {"e2": {"e4": [{"must": {"e3": "empty"}}], "e3": [{}, {"must": {"a1": "enemy"}}]}}},
        {"C:P": {"e2": {"e4": [{"must": {"e3": "empty"}}, {"must": {"d4": "enemy"}}], "e3": [{}]}}},
        "1 piece, 2 entries: 1 possibility added, 1 removed",
        ["~ C:P", "~   e2", "+     e4 must d4=enemy", "-     e3 must a1=enemy"],
    ),
    "effects": (
        {"C:P": {"e7": {"e8": [{"diff": {"board": {"e7": None, "e8": "C:Q"}}}]}}},
        {"C:P": {"e7": {"e8": [{"diff": {"board": {"e8": None}, "hands": {"c:p": 1}, "toggle": False}}]}}},
        "1 piece, 1 entry: 1 possibility changed",
        [
            *("~ C:P", "~   e7", "~     e8=[+1 c:p moves again] (e7 as it was)"),
            *("-       effect: e7=", "-       effect: e8=C:Q", "+       effect: e8=", "+       effect: +1 c:p"),
            *("-       effect: the turn passes", "+       effect: moves again"),
        ],
    ),
    "an entry, a source and a piece more": (
        {"C:P": {"e2": {"e4": [{}]}}},
        {
            "C:P": {"e2": {"e3": [{}], "e4": [{}]}, "*": {"a1": [{}, {"must": {"a2": "empty"}}]}},
            "C:Q": {"d1": {"d2": [{}]}},
        },
        "2 pieces, 3 entries: 4 possibilities added",
        [
            *("~ C:P", "~   e2", "+     e3", "+   hand", "+     a1", "+     a1 must a2=empty"),
            *("+ C:Q", "+   d1", "+     d2"),
        ],
    ),
    "an entry, a source and a piece less": (
        {"C:Q": {"d1": {"d2": [{}]}}, "C:P": {"e2": {"e3": [{}], "*": [{}]}, "*": {"a1": [{}]}}},
        {"C:P": {"e2": {"*": [{}]}}},
        "2 pieces, 3 entries: 3 possibilities removed",
        ["- C:Q", "-   d1", "-     d2", "~ C:P", "~   e2", "-     e3", "-   hand", "-     a1"],
    ),
    "the orders of pieces, sources and destinations": (
        {"C:Q": {"d1": {"d2": [{}]}}, "C:P": {"e2": {"e3": [{}], "e4": [{}], "e5": [{}]}, "*": {"a1": [{}]}}},
        {"C:P": {"*": {"a1": [{}]}, "e2": {"e4": [{}], "e5": [{}], "e3": [{}]}}, "C:Q": {"d1": {"d2": [{}]}}},
        "1 piece; order changed",
        ["~ C:P", "~   e2", "~     e3 now stands after e5", "~   hand now stands first", "~ C:P now stands first"],
    ),
    "the order of pieces alone": (
        {"C:Q": {"d1": {"d2": [{}]}}, "C:P": {"e2": {"e3": [{}]}}},
        {"C:P": {"e2": {"e3": [{}]}}, "C:Q": {"d1": {"d2": [{}]}}},
        "order changed",
        ["~ C:P now stands first"],
    ),
    "the order of possibilities": (
        {"C:P": {"e2": {"e3": [{"must": {"a1": "empty"}}, {"must": {"b1": "empty"}}, {"must": {"c1": "empty"}}]}}},
        {"C:P": {"e2": {"e3": [{"must": {"c1": "empty"}}, {"must": {"a1": "empty"}}, {"must": {"b1": "empty"}}]}}},
        "1 piece, 1 entry: 1 possibility moved",
        ["~ C:P", "~   e2", "~     e3 must c1=empty (now possibility 0, was 2)"],
    ),
    "a possibility that was changed and moved": (
        {"C:P": {"e2": {"e3": [{"must": {"a1": "empty"}}, {"must": {"b1": "empty"}}, {"must": {"c1": "empty"}}]}}},
        {"C:P": {"e2": {"e3": [{"must": {"c1": "C:P"}}, {"must": {"a1": "empty"}}, {"must": {"b1": "empty"}}]}}},
        "1 piece, 1 entry: 1 possibility changed",
        [
            *("~ C:P", "~   e2", "~     e3 must c1=C:P (now possibility 0, was 2)"),
            *("-       must c1=empty", "+       must c1=C:P"),
        ],
    ),
}


@pytest.mark.parametrize(("before", "after", "summary", "lines"), CHANGES.values(), ids=list(CHANGES))
def test_a_difference_is_told_in_lines_and_in_one(
    before: dict[str, Any], after: dict[str, Any], summary: str, lines: list[str]
) -> None:
    difference = diff(document(before), document(after))
    assert text(difference) == lines
    assert str(difference) == summary
    assert bool(difference) == bool(lines)


def test_fields_are_told_before_pieces() -> None:
    before = document(PAWNS, title="Old", start="8/8 / C/c", definition="a\nb\nc\n")
    after = document({"$schema": "s.json", "C:P": PAWN}, title="New\x1b[2J", source="me", definition="a\nB\nc\nd\n")
    difference = diff(before, after)
    assert text(difference) == [
        '+ schema: "s.json"',
        '~ title: "Old" -> "New\\u001b[2J"',
        '+ source: "me"',
        '- start: "8/8 / C/c"',
        *("~ definition: 3 lines -> 4 lines", "    @@ -1,3 +1,4 @@", "    a", "-   b", "+   B", "    c", "+   d"),
        *("- c:p", "-   e7", "-     e6 must e6=empty"),
    ]
    assert str(difference) == (
        "1 piece, 1 entry: 1 possibility removed; schema, title, source, start, definition changed"
    )


def test_texts_are_compared_in_hunks_with_three_lines_around_them() -> None:
    before = [str(number) for number in range(1, 21)]
    after = [*before[:4], "five", *before[5:], "21"]
    found = diff(*(document(PAWNS, definition="\n".join(lines)) for lines in (before, after)))
    assert text(found) == [
        "~ definition: 20 lines -> 21 lines",
        *("    @@ -2,7 +2,7 @@", *(f"    {each}" for each in (2, 3, 4)), "-   5", "+   five"),
        *(*(f"    {each}" for each in (6, 7, 8)), "    @@ -18,3 +18,4 @@"),
        *(*(f"    {each}" for each in (18, 19, 20)), "+   21"),
    ]


def test_long_differences_of_texts_are_cut() -> None:
    before, after = ("".join(f"{side} {number}\n" for number in range(1_000)) for side in ("a", "b"))
    lines = text(diff(document(PAWNS, definition=before), document(PAWNS, definition=after)))
    assert len(lines) == 1_002
    assert lines[-1] == "    ... and 1,001 more lines"


def test_only_fields_that_changed_are_a_difference_too() -> None:
    assert str(diff(document(PAWNS), document(PAWNS, board="8x8"))) == "board changed"
    perform = parse('{"CHESS:P":{"a":{"b":[{"perform":{"b":null}}]}}}')
    same_moves = parse('{"CHESS:P":{"a":{"b":[{"diff":{"board":{"b":null}}}]}}}')
    assert text(diff(perform, same_moves)) == ['~ dialect: "perform" -> "diff"']


def test_from_nothing_everything_is_added() -> None:
    difference = diff(None, document(PAWNS))
    assert [piece.kind for piece in difference.pieces] == ["added", "added"]
    assert str(difference) == "2 pieces, 3 entries: 3 possibilities added; dialect changed"
    assert same(apply(difference, None), document(PAWNS))
    assert [(source.kind, source.places) for piece in difference.pieces for source in piece.sources] == [
        ("added", ())
    ] * 2
    assert [piece.places for piece in difference.pieces] == [(), ()]


def test_counts_are_of_everything_that_changed() -> None:
    before = {
        "C:P": {"e2": {"e3": [{"must": {"e3": "empty"}}, {"must": {"a1": "enemy"}}], "e4": [{}], "e5": [{}]}},
        "C:R": {"a1": {"a2": [{}]}},
    }
    after = {
        "C:Q": {"d1": {"d2": [{}, {"must": {"d3": "empty"}}]}},
        "C:P": {
            "e2": {"e5": [{}], "e3": [{"must": {"e3": "enemy"}}, {"must": {"a1": "enemy"}}, {"must": {"b1": "empty"}}]}
        },
    }
    assert diff(document(before), document(after, title="x")).counts() == {
        "fields": 1,
        "pieces": 3,
        "pieces_added": 1,
        "pieces_removed": 1,
        "entries": 4,
        "entries_added": 1,
        "entries_removed": 2,
        "moved": 1,
        "possibilities_added": 3,
        "possibilities_removed": 2,
        "possibilities_changed": 1,
        "possibilities_moved": 0,
    }


def test_a_removed_possibility_is_paired_with_the_added_one_that_is_most_like_it() -> None:
    old = (Possibility({"a1": "empty", "b1": "empty"}), Possibility({"c1": "empty"}), Possibility({"d1": "empty"}))
    new = (
        Possibility({"c1": "enemy", "b1": "empty"}),
        Possibility({"a1": "empty", "b1": "enemy"}),
        Possibility({"e1": "empty"}),
    )
    told = [(change.kind, change.from_ordinal, change.to_ordinal, change.moved) for change in compare(old, new)]
    # The first two share a square with each other and more with one another's counterpart; d1 and e1 share nothing.
    assert told == [
        ("changed", 1, 0, False),
        ("changed", 0, 1, True),
        ("removed", 2, None, False),
        ("added", None, 2, False),
    ]


def test_what_both_say_counts_more_than_what_they_say_of_the_same_squares() -> None:
    old = Possibility({"a1": "empty", "b1": "empty", "c1": "empty"})
    less = Possibility({"a1": "enemy", "b1": "enemy", "c1": "empty"})
    more = Possibility({"a1": "empty", "b1": "empty", "c1": "enemy"})
    assert [(change.kind, change.after) for change in compare((old,), (less, more))] == [
        ("added", less),
        ("changed", more),
    ]


def test_possibilities_that_only_pass_the_turn_alike_are_not_the_same_one() -> None:
    old, new = Possibility(effects=Transition({"a1": None})), Possibility(effects=Transition({"b1": None}))
    assert [change.kind for change in compare((old,), (new,))] == ["removed", "added"]


def test_what_differs_between_two_possibilities_is_named_one_by_one() -> None:
    old = Possibility({"a1": "empty", "b1": "empty"}, {"c1": "enemy"}, Transition({"a1": "C:P"}, {"C:P": 1}))
    new = Possibility({"b1": "enemy"}, {"c1": "enemy"}, Transition({"a1": None, "b1": None}, {"C:P": 2}, toggle=False))
    (change,) = compare((old,), (new,))
    assert change.details == (
        Detail("must", "a1", "empty", ABSENT),
        Detail("must", "b1", "empty", "enemy"),
        Detail("board", "a1", "C:P", None),
        Detail("board", "b1", ABSENT, None),
        Detail("hands", "C:P", 1, 2),
        Detail("toggle", "", True, False),
    )
    assert [each.data() for each in change.details][:4:3] == [
        {"part": "must", "name": "a1", "before": "empty"},
        {"part": "board", "name": "b1", "after": None},
    ]


def test_duplicates_are_counted_one_by_one() -> None:
    same_twice = (Possibility({"a1": "empty"}),) * 2
    assert [change.kind for change in compare(same_twice, same_twice[:1])] == ["removed"]
    assert [change.kind for change in compare(same_twice[:1], same_twice)] == ["added"]
    assert compare(same_twice, same_twice) == ()


def test_many_possibilities_are_paired_without_asking_all_for_likeness() -> None:
    old = tuple(Possibility({f"a{n}": "empty"}) for n in range(1, 1001))
    new = tuple(Possibility({f"a{n}": "enemy"}) for n in range(1, 1001))
    assert {change.kind for change in compare(old, new)} == {"changed"}


def test_colors_are_there_only_when_asked_for() -> None:
    difference = diff(document({"C:P": {"e2": {"e3": [{}]}}}), document({"C:P": {"e2": {"e4": [{}]}}}))
    assert list(diff_text(difference, color=True)) == [
        "~ C:P\n",
        "~   e2\n",
        *("\x1b[31m-     e3\x1b[0m\n", "\x1b[32m+     e4\x1b[0m\n"),
    ]
    assert not any("\x1b" in line for line in diff_text(difference))


def test_text_from_afar_cannot_act_on_a_terminal() -> None:
    data = diff(*map(document, ENTRY_ADDED)).data()
    data["pieces"][0]["piece"] = "C:P\x1b[2J"
    data["pieces"][0]["sources"][0]["destinations"][0]["after"] = [{"must": {"\r": "\x07"}}]
    assert text(Diff.from_data(data)) == ["~ C:P\\x1b[2J", "~   e2", "+     e4 must \\r=\\x07"]


@pytest.mark.parametrize(
    ("entry", "effects", "line"),
    [
        (("C:P", "e2", "e4"), Transition({"e2": None, "e4": "C:P"}), "e4"),
        (("C:P", "e2", "e4"), Transition({"e2": None}), "e4 (e4 as it was)"),
        (("C:P", "e2", "e4"), Transition({"e4": "C:P"}), "e4 (e2 as it was)"),
        (("C:P", "e2", "e4"), Transition({"e2": "C:P", "e4": "C:P"}), "e4 (e2=C:P)"),
        (("C:P", "e2", "e2"), Transition({"e2": "C:Q"}), "e2=C:Q"),
        (("C:P", "*", "e4"), Transition({"e4": "C:P"}, {"C:P": -1}), "e4"),
        (("C:P", "*", "e4"), Transition({"e4": "C:P"}), "e4 (hand as it was)"),
        (("C:P", "e4", "*"), Transition({"e4": None}, {"C:P": 1}), "hand[+1 C:P]"),
    ],
)
def test_a_possibility_is_written_as_moves_are_and_what_is_unusual_is_said(
    entry: tuple[str, str, str], effects: Transition, line: str
) -> None:
    assert possibility_text(*entry, Possibility(effects=effects)) == line
    both = Possibility({"b1": "empty", "a1": "enemy"}, {"c1": "C:K"}, effects)
    assert possibility_text(*entry, both) == f"{line} must a1=enemy b1=empty deny c1=C:K"


@pytest.mark.parametrize("examples", [40, pytest.param(150, marks=pytest.mark.long)])
def test_different_possibilities_of_an_entry_have_different_texts(examples: int) -> None:
    @unhurried(examples)
    @given(data=st.data(), dialect=st.sampled_from(DIALECTS))
    def check(data: st.DataObject, dialect: str) -> None:
        found = parse(json.dumps(data.draw(documents(dialect))), dialect)  # type: ignore[arg-type]
        for piece in found.pieces:
            for source in piece.sources:
                for destination in source.destinations:
                    said: dict[str, Any] = {}
                    for each in destination.possibilities:
                        line = possibility_text(piece.identifier, source.square, destination.square, each)
                        assert said.setdefault(line, possibility_data(each)) == possibility_data(each)

    check()


# --- written down and applied ---


def check_exactness(before: Document, after: Document) -> None:
    difference = diff(before, after)
    again = Diff.from_data(json.loads(json.dumps(difference.data())))
    assert again == difference
    assert same(apply(difference, before), after)
    assert same(apply(again, before), after)
    assert bool(difference) == (not same(before, after))
    assert bool(difference) == bool(list(diff_text(difference)))
    assert (str(difference) == "no changes") == (not difference)
    for entry in difference.entries():
        assert_compared(entry[2])


def assert_compared(entry: EntryChange) -> None:
    """What is told of a changed entry accounts for every possibility of it."""
    gone = {change.from_ordinal for change in entry.possibilities if change.from_ordinal is not None}
    come = {change.to_ordinal for change in entry.possibilities if change.to_ordinal is not None}
    left = [each for ordinal, each in enumerate(entry.before) if ordinal not in gone]
    assert left == [each for ordinal, each in enumerate(entry.after) if ordinal not in come]
    for change in entry.possibilities:
        if change.from_ordinal is not None:
            assert change.before == entry.before[change.from_ordinal]
        if change.to_ordinal is not None:
            assert change.after == entry.after[change.to_ordinal]
        if change.kind == "changed":
            assert change.details


def exactness(dialect: str, examples: int) -> None:
    @unhurried(examples)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        base = data.draw(drafts(dialect))
        after = data.draw(edited(base))
        check_exactness(base.document(), after.document())
        check_exactness(after.document(), base.document())

    check()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_difference_applied_gives_the_target(dialect: str) -> None:
    exactness(dialect, 8)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_difference_applied_gives_the_target_many_times(dialect: str) -> None:
    exactness(dialect, -(-MANY // 3))


@pytest.mark.parametrize("examples", [20, pytest.param(60, marks=pytest.mark.long)])
def test_a_difference_between_any_two_documents_is_exact(examples: int) -> None:
    @unhurried(examples)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        left, right = (data.draw(drafts(data.draw(st.sampled_from(DIALECTS)))).document() for _ in range(2))
        check_exactness(left, right)

    check()


def test_pieces_can_be_compared_one_by_one_without_reading_those_that_are_equal() -> None:
    before = document({**PAWNS, "C:K": {"e1": {"e2": [{}]}}}, title="Old")
    after = document({"C:Q": {"d1": {"d2": [{}]}}, "c:p": PAWNS["c:p"], "C:P": {"e2": {"e3": [{}]}}}, title="New")
    old, new = pieces_of(before), pieces_of(after)
    changed = [(old["C:K"], None), (old["C:P"], new["C:P"]), (None, new["C:Q"])]
    assert diff_pieces(Outline.of(before), Outline.of(after), iter(changed)) == diff(before, after)
    with_equal = [*changed, (old["c:p"], new["c:p"])]
    assert diff_pieces(Outline.of(before), Outline.of(after), with_equal) == diff(before, after)
    assert diff_piece(old["c:p"], new["c:p"]) is None
    assert diff_piece(None, None) is None


# --- where it does not apply ---

Side = dict[str, Any]
ENTRY_CHANGED: tuple[Side, Side] = ({"C:P": {"e2": {"e3": [{}]}}}, {"C:P": {"e2": {"e3": [{"must": {"e3": "empty"}}]}}})
ENTRY_ADDED: tuple[Side, Side] = ({"C:P": {"e2": {"e3": [{}]}}}, {"C:P": {"e2": {"e3": [{}], "e4": [{}]}}})
SOURCE_REMOVED: tuple[Side, Side] = ({"C:P": {"e2": {"e3": [{}]}, "d2": {"d3": [{}]}}}, {"C:P": {"e2": {"e3": [{}]}}})
PIECE_ADDED: tuple[Side, Side] = (
    {"C:P": {"e2": {"e3": [{}]}}},
    {"C:P": {"e2": {"e3": [{}]}}, "C:Q": {"d1": {"d2": [{}]}}},
)
MOVED: tuple[Side, Side] = (
    {"C:P": {"e2": {"e3": [{}], "e4": [{}], "e5": [{}]}}},
    {"C:P": {"e2": {"e4": [{}], "e5": [{}], "e3": [{}]}}},
)


@pytest.mark.parametrize(
    ("made", "found", "message"),
    [
        (
            ENTRY_CHANGED,
            {"C:P": {"e2": {"e3": [{}, {}]}}},
            "C:P e2 e3: its possibilities are others, where it was changed",
        ),
        (ENTRY_CHANGED, {"C:P": {"e2": {"e4": [{}]}}}, "C:P e2 e3: it is not there, where it was changed"),
        (ENTRY_CHANGED, {"C:P": {"d2": {"e3": [{}]}}}, "C:P e2: it is not there, where it was changed"),
        (ENTRY_CHANGED, {"C:Q": {"e2": {"e3": [{}]}}}, "C:P: it is not there, where it was changed"),
        (ENTRY_ADDED, ENTRY_ADDED[1], "C:P e2 e4: it is there, where it was added"),
        (ENTRY_ADDED, {"C:P": {"e2": {"e5": [{}]}}}, "C:P e2 e3: it is not there, where e4 was put after it"),
        (SOURCE_REMOVED, SOURCE_REMOVED[1], "C:P d2: it is not there, where it was removed"),
        (SOURCE_REMOVED, {"C:P": {"e2": {"e3": [{}]}, "d2": {"d3": [{}], "d4": [{}]}}}, "C:P d2 d4: it is there"),
        (SOURCE_REMOVED, {"C:P": {"d2": {"d3": [{}]}}}, "C:P: nothing is left in it, where it was changed"),
        (PIECE_ADDED, PIECE_ADDED[1], "C:Q: it is there, where it was added"),
        ((PIECE_ADDED[1], PIECE_ADDED[0]), {"C:Q": {"d1": {"d2": [{}]}}}, "no document is left"),
        (MOVED, {"C:P": {"e2": {"e4": [{}], "e5": [{}]}}}, "C:P e2 e3: it is not there, where it was moved"),
        (MOVED, {"C:P": {"e2": {"e4": [{}], "e3": [{}]}}}, "C:P e2 e5: it is not there, where e3 was put after it"),
    ],
)
def test_a_difference_does_not_apply_to_what_it_was_not_made_from(
    made: tuple[Side, Side], found: Side, message: str
) -> None:
    difference = diff(document(made[0]), document(made[1]))
    with pytest.raises(ConflictError) as raised:
        apply(difference, document(found))
    assert str(raised.value).startswith(message)
    assert "make the difference anew" in str(raised.value)


def test_a_difference_of_fields_does_not_apply_to_other_fields() -> None:
    difference = diff(document(PAWNS, title="A"), document(PAWNS, title="B"))
    with pytest.raises(ConflictError, match='the title is "C", and the difference was made from "A"'):
        apply(difference, document(PAWNS, title="C"))
    with pytest.raises(ConflictError, match='the dialect is "must-deny", and the difference was made from null'):
        apply(diff(None, document(PAWNS)), document(PAWNS))


def test_a_difference_applies_where_only_other_entries_are_different() -> None:
    other: Side = {"C:P": {"e2": {"e3": [{}], "d3": [{}]}}, "C:R": {"a1": {"a2": [{}]}}}
    after = apply(diff(*map(document, ENTRY_ADDED)), document(other))
    assert json.loads(after.canonical()) == {
        "C:P": {"e2": {"e3": [{}], "e4": [{}], "d3": [{}]}},
        "C:R": {"a1": {"a2": [{}]}},
    }
    assert [each.square for each in after.pieces[0].sources[0].destinations] == ["e3", "e4", "d3"]


GOOD: dict[str, Any] = diff(*map(document, ENTRY_ADDED)).data()


def changed(path: str, value: Any) -> Any:
    """GOOD with another value at a path such as `pieces/0/change`."""
    data = json.loads(json.dumps(GOOD))
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    place = data
    for key in parents:
        place = place[key]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], r"\[\] has no place in a difference"),
        ({"pieces": []}, "null is not what a difference has as its fields"),
        (changed("pieces", 7), "7 is not what a difference has as its pieces"),
        (changed("pieces", GOOD["pieces"] * 2), '"C:P" stands twice'),
        (
            changed("pieces/0/change", "new"),
            '"new" is not what a piece can be in a difference: added, removed, changed',
        ),
        (changed("pieces/0/piece", None), "null is not what a difference has as its piece"),
        (changed("pieces/0/sources/0/source", 1), "1 is not what a difference has as its source"),
        (changed("pieces/0/sources/0/places/0/after", 1), "1 is not what a difference has as its after"),
        (changed("pieces/0/sources/0/places", [{"key": "e4", "after": None}] * 2), '"e4" stands twice'),
        (changed("pieces/0/sources/0/destinations/0/after", []), "changes nothing"),
        (changed("pieces/0/sources/0/destinations/0/after", [1]), "1 has no place in a difference"),
        (
            changed("pieces/0/sources/0/destinations/0/after/0/must", {"e4": 1}),
            "1 is not what a difference has as its e4",
        ),
        (
            changed("pieces/0/sources/0/destinations/0/after/0/effects", 1),
            "1 is not what a difference has as its effects",
        ),
        (changed("fields", [{"name": "author"}]), '"author" is not what a difference can change: dialect, schema'),
    ],
)
def test_data_that_are_no_difference_are_refused(data: Any, message: str) -> None:
    with pytest.raises(NotationError, match=message):
        Diff.from_data(data)


@pytest.mark.parametrize("places", [[], [{"key": "e4", "after": "e5"}], [{"key": "e4", "after": "e4"}]])
def test_data_that_lose_the_place_of_an_entry_do_not_apply(places: list[Any]) -> None:
    difference = Diff.from_data(changed("pieces/0/sources/0/places", places))
    with pytest.raises(ConflictError, match=r"C:P e2 e[45]: it (has no place|is not there)"):
        apply(difference, document(ENTRY_ADDED[0]))


# --- orders ---


@unhurried(300)
@given(before=KEYS, after=KEYS)
def test_places_lead_from_one_order_to_another_with_as_few_as_can_be(before: list[str], after: list[str]) -> None:
    new = order.places(before, after)
    assert order.arrange(before, set(before) - set(after), new) == after
    assert len(after) - len(new) == longest_common(before, after)
    assert sorted(order.together(before, after)) == sorted({*before, *after})
    assert [key for key in order.together(before, after) if key in after] == after


def longest_common(left: list[str], right: list[str]) -> int:
    if not left or not right:
        return 0
    if left[0] == right[0]:
        return 1 + longest_common(left[1:], right[1:])
    return max(longest_common(left[1:], right), longest_common(left, right[1:]))


def test_what_is_gone_is_listed_after_what_it_stood_after() -> None:
    assert order.together("abcd", "dxa") == ["d", "x", "a", "b", "c"]
    assert order.places("abc", "cab") == (Insertion("c", None),)
