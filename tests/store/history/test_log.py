"""The log of a ruleset, and what was last changed by whom, against plain Python."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import Store, UnknownNameError
from ggn_store.model.teams.history import Changes
from tests.support.databases import DATABASES
from tests.support.edits import Draft, drafts, edited
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.revisions import NAME, Node, ancestors, origin, record, tag
from tests.support.strategies import DIALECTS
from tests.support.unhurried import unhurried

EMPTY, ENEMY = [{"must": {"a1": "empty"}}], [{"must": {"a1": "enemy"}}]
PAWN: dict[str, Any] = {"e2": {"e3": EMPTY, "e4": EMPTY}}
BOARD = {"board": "8x8"}

# 1 - 2 - 4 - 6 - 7: the title, a pawn's e4, the merge, a rook less
#   \ 3 - 5 /       : a rook more, a pawn's e3
STORY = [
    Node({"C:P": PAWN}, (), BOARD),
    Node({"C:P": PAWN}, (1,), BOARD | {"title": "Two"}),
    Node({"C:P": PAWN, "C:R": {"a1": {"a2": EMPTY}}}, (1,), BOARD),
    Node({"C:P": {"e2": {"e3": EMPTY, "e4": ENEMY}}}, (2,), BOARD | {"title": "Two"}),
    Node({"C:P": {"e2": {"e3": ENEMY, "e4": EMPTY}}, "C:R": {"a1": {"a2": EMPTY}}}, (3,), BOARD),
    Node({"C:R": {"a1": {"a2": EMPTY}}, "C:P": {"e2": {"e3": ENEMY, "e4": ENEMY}}}, (4, 5), BOARD | {"title": "Two"}),
    Node({"C:P": {"e2": {"e4": ENEMY, "e3": ENEMY}}}, (6,), BOARD | {"title": "Two"}),
]
CHANGES = [
    Changes(is_first=True, added=("C:P",)),
    Changes(fields=("title",)),
    Changes(added=("C:R",)),
    Changes(changed=("C:P",)),
    Changes(changed=("C:P",)),
    Changes(added=("C:R",), changed=("C:P",)),
    Changes(removed=("C:R",), changed=("C:P",)),
]


@pytest.fixture(scope="module")
def story(module_store: Store) -> Store:
    """A store with the history above; what is tagged stable has moved once, and old was removed."""
    record(module_store, STORY)
    tag(module_store, [("stable", 1, 2), ("stable", 2, 6), ("old", 1, 1), ("old", 2, None), ("also", 1, 6)])
    return module_store


def test_a_log_has_all_revisions_before_one_newest_first(story: Store) -> None:
    entries = story.history.log(NAME)
    assert [entry.revision.number for entry in entries] == [7, 6, 5, 4, 3, 2, 1]
    assert [(entry.revision.parent, entry.revision.merged) for entry in entries] == [
        *((6, None), (4, 5), (3, None), (2, None), (1, None), (1, None), (None, None)),
    ]
    assert [entry.revision.number for entry in story.history.log(f"{NAME}@5")] == [5, 3, 1]
    assert [entry.revision.number for entry in story.history.log(f"{NAME}:stable", 3)] == [6, 5, 4]
    assert story.history.log(f"{NAME}@6") == entries[1:]


def test_a_limit_leaves_out_the_end_of_what_the_log_of_several_would_be(store: Store) -> None:
    for number, name in enumerate("abacabdc"):
        store.load({"C:P": {"e2": {"e3": EMPTY}}, "C:R": {"a1": {f"a{number + 2}": EMPTY}}}, name)
    for references in (["*"], ["c", "a@2", "b", "d"], ["d", "a"]):
        every = store.history.log(references)
        assert len(every) > 3
        for limit in range(1, len(every) + 2):
            assert store.history.log(references, limit) == every[:limit]


def test_a_log_tells_which_pieces_changed_against_the_first_parent(story: Store) -> None:
    for reference in (NAME, f"{NAME}@5"):
        for entry in story.history.log(reference):
            assert entry.changes == CHANGES[entry.revision.number - 1], entry.revision
    assert [entry.changes for entry in story.history.log(NAME, 2)] == CHANGES[:-3:-1]


def test_tags_stand_beside_what_they_point_to_now(story: Store) -> None:
    assert {entry.revision.number: entry.tags for entry in story.history.log(NAME) if entry.tags} == {
        6: ("also", "stable")
    }


def test_changes_are_told_in_one_line() -> None:
    told = {
        str(Changes()): "nothing changed",
        str(Changes(is_first=True, added=("C:P",))): "first revision, 1 piece",
        str(Changes(is_first=True, added=("C:P", "C:R"))): "first revision, 2 pieces",
        str(Changes(changed=("C:P",))): "1 piece changed (C:P)",
        str(Changes(False, ("C:R",), (), ("C:P", "C:Q"), ("title",))): (
            "2 pieces changed (C:P, C:Q), 1 added (C:R); title changed"
        ),
        str(Changes(removed=tuple(f"C:{letter}" for letter in "ABCDEF"))): (
            "6 pieces removed (C:A, C:B, C:C, C:D and 2 more)"
        ),
        str(Changes(order=True)): "order of pieces changed",
    }
    for found, expected in told.items():
        assert found == expected


def test_an_order_of_pieces_that_changed_is_told(store: Store) -> None:
    pieces = {"C:P": PAWN, "C:R": {"a1": {"a2": EMPTY}}}
    store.load(pieces, NAME)
    store.load(dict(reversed(pieces.items())), NAME)
    assert store.history.log(NAME, 1)[0].changes == Changes(order=True)


def test_a_board_that_grew_is_told_with_the_pieces_that_it_changed(store: Store) -> None:
    store.load({"C:P": PAWN, "C:R": {"a1": {"a2": EMPTY}}}, NAME)
    store.load({"C:P": PAWN, "C:R": {"a1": {"a2": EMPTY, "h9": EMPTY}}}, NAME)
    assert store.history.log(NAME, 1)[0].changes == Changes(changed=("C:P", "C:R"), fields=("board",))
    # But nobody is blamed for what only stands on another board.
    assert {
        (each.piece, each.destination): each.revision.number for each in store.history.blame(NAME) if each.piece
    } == {
        ("C:P", "e3"): 1,
        ("C:P", "e4"): 1,
        ("C:R", "a2"): 1,
        ("C:R", "h9"): 2,
    }


def test_other_rulesets_are_not_in_a_log(story: Store) -> None:
    story.load({"C:P": PAWN}, "other")
    tag(story, [("of-other", 1, 1)], "other")
    assert [(entry.revision.name, entry.tags) for entry in story.history.log("other")] == [("other", ("of-other",))]
    assert {(entry.revision.name, entry.tags) for entry in story.history.log(f"{NAME}@5")} == {(NAME, ())}
    with pytest.raises(UnknownNameError, match="no revision 8"):
        story.history.log(f"{NAME}@8")


# --- blame ---

Blamed = dict[Any, int]
BLAMED: Blamed = {
    ("C:P", "e2", "e4"): 4,
    ("C:P", "e2", "e3"): 5,
}


def blamed(store: Store, *arguments: str, **options: str) -> Blamed:
    return {
        each.field or (each.piece, each.source, each.destination): each.revision.number
        for each in store.history.blame(*arguments, **options)
    }


def test_each_entry_is_blamed_on_the_revision_that_gave_it_its_value(story: Store) -> None:
    fields: Blamed = {"dialect": 1, "title": 2, "board": 1}
    rook: Blamed = {("C:R", "a1", "a2"): 3}
    assert blamed(story, NAME) == fields | BLAMED
    assert list(blamed(story, NAME)) == ["dialect", "title", "board", *BLAMED]
    assert blamed(story, f"{NAME}@6") == fields | rook | BLAMED
    before: Blamed = {"dialect": 1, "board": 1, ("C:P", "e2", "e3"): 5, ("C:P", "e2", "e4"): 1}
    assert blamed(story, f"{NAME}@5") == before | rook


def test_what_is_asked_for_is_blamed_alone(story: Store) -> None:
    assert blamed(story, f"{NAME}@6", piece="C:R") == {("C:R", "a1", "a2"): 3}
    assert blamed(story, f"{NAME}@6", source="e2") == BLAMED
    assert blamed(story, f"{NAME}@6", destination="e4") == {("C:P", "e2", "e4"): 4}
    for options, message in {
        ("C:Q", None, None): 'game@7 has no rules for the piece "C:Q"; it has C:P',
        ("C:P", "e3", None): 'game@7 has no rules for "C:P" from "e3"',
        (None, None, "h8"): 'game@7 has no rules to "h8"',
    }.items():
        with pytest.raises(UnknownNameError, match=message):
            story.history.blame(NAME, *options)


def test_what_came_back_is_blamed_on_who_brought_it_back(store: Store) -> None:
    for destination in (EMPTY, ENEMY, EMPTY):
        store.load({"C:P": {"e2": {"e3": destination, "e4": EMPTY}}}, NAME)
    assert blamed(store, NAME, piece="C:P") == {("C:P", "e2", "e3"): 3, ("C:P", "e2", "e4"): 1}


def test_the_hand_is_blamed_as_other_squares_are(store: Store) -> None:
    drop = [{"must": {"a1": "empty"}, "diff": {"board": {"a1": "C:P"}, "hands": {"C:P": -1}}}]
    twice = [{"must": {"a1": "empty"}, "diff": {"board": {"a1": "C:P"}, "hands": {"C:P": -2}}}]
    again = [{"must": {"a1": "empty"}, "diff": {"board": {"a1": "C:P"}, "hands": {"C:P": -2}, "toggle": False}}]
    for number, changed in enumerate((drop, twice, again), start=1):
        store.load({"C:P": {"*": {"a1": changed, "b1": drop}}}, NAME)
        assert blamed(store, NAME, source="*") == {("C:P", "*", "a1"): number, ("C:P", "*", "b1"): 1}


def draw_history(data: st.DataObject, dialect: str) -> list[Node]:
    """Up to seven revisions: edits of one before, or of two, or something new."""
    made: list[Draft] = []
    nodes: list[Node] = []
    length: int = data.draw(st.integers(2, 7))
    for number in range(1, length + 1):
        parents: tuple[int, ...] = ()
        draft: Draft = data.draw(drafts(dialect)) if not made else made[0]
        is_edit: bool = data.draw(st.sampled_from((True, True, True, False)))
        if made and is_edit:
            first: int = data.draw(st.integers(max(1, number - 3), number - 1))
            other: int = data.draw(st.integers(0, number - 1))
            draft = data.draw(edited(made[first - 1], made[other - 1] if other else None))
            parents = (first,) if other in (0, first) else (first, other)
        draft.fields.pop("definition", None)
        made.append(draft)
        nodes.append(Node(draft.content, parents, draft.fields, dialect))
    return nodes


def agreement(store: Store, dialect: str, examples: int) -> None:
    """Log and blame of random histories are those of plain Python."""
    count = 0

    @unhurried(examples)
    @given(data=st.data())
    def agree(data: st.DataObject) -> None:
        nonlocal count
        count += 1
        nodes = draw_history(data, dialect)
        name = f"{dialect}-{examples}-{count}"
        record(store, nodes, name)
        said, fields = [node.entries() for node in nodes], [node.all_fields() for node in nodes]
        for number in range(1, len(nodes) + 1):
            reference = f"{name}@{number}"
            entries = store.history.log(reference)
            assert [entry.revision.number for entry in entries] == ancestors(nodes, number)
            assert entries[0].changes == expected_changes(nodes, number)
            found = blamed(store, reference)
            expected: dict[Any, int] = {each: origin(nodes, number, each, said) for each in said[number - 1]}
            expected |= {each: origin(nodes, number, each, fields) for each in fields[number - 1]}
            assert found == expected

    agree()
    assert store.upkeep.check() == []


def expected_changes(nodes: list[Node], number: int) -> Changes:
    def pieces(node: Node) -> dict[str, str]:
        return {
            piece: json.dumps(value) for piece, value in node.document().data().items() if not piece.startswith("$")
        }

    node = nodes[number - 1]
    new = pieces(node)
    if not node.parents:
        return Changes(is_first=True, added=tuple(new))
    before = nodes[node.parents[0] - 1]
    old = pieces(before)
    is_elsewhere = node.document().board != before.document().board
    fields, old_fields = node.all_fields(), before.all_fields()
    names = [name for name in ("schema", "title", "source") if fields.get(name) != old_fields.get(name)]
    names += ["board"] if is_elsewhere else []
    changed = tuple(piece for piece in new if piece in old and (is_elsewhere or new[piece] != old[piece]))
    added = tuple(piece for piece in new if piece not in old)
    removed = tuple(piece for piece in old if piece not in new)
    is_other_order = not (changed or added or removed or names) and list(new) != list(old)
    return Changes(False, added, removed, changed, tuple(names), is_other_order)


@pytest.mark.parametrize(
    ("module_store", "dialect"), [*zip(itertools.cycle(DATABASES), DIALECTS, strict=False)], indirect=["module_store"]
)
def test_logs_and_blames_are_those_of_plain_python(module_store: Store, dialect: str) -> None:
    agreement(module_store, dialect, 2)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_logs_and_blames_of_many_histories_are_those_of_plain_python(module_store: Store, dialect: str) -> None:
    agreement(module_store, dialect, 200)
