"""What the rules of a piece say, once for all entries that say the same: nothing is lost, and texts are read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import strategies as st

from ggn_store import parse
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Piece
from ggn_store.movement.entries import Entries, differing_sources
from ggn_store.movement.grid import Grid
from tests.oracles import reference
from tests.support.edits import drafts, edited
from tests.support.loaded import in_random_documents
from tests.support.strategies import documents

Json = dict[str, Any]


def entries_of(piece: Piece, board: Board) -> Entries:
    return Entries.of(piece, board, Grid.of(board) or Grid.row(board))


def said(possibility: Json) -> Json:
    """All that a possibility says, but for the number of the step that it is of an action."""
    must, deny = reference.conditions(possibility)
    diff = possibility.get("diff", {})
    action = possibility.get("action")
    return {
        "must": must,
        "deny": deny,
        "board": possibility.get("perform") or diff.get("board", {}),
        "hands": {piece: delta for piece, delta in diff.get("hands", {}).items() if delta},
        "turn": diff.get("toggle", True) if "diff" in possibility or "perform" in possibility else None,
        "when": {name: sorted(values) for name, values in possibility.get("when", {}).items()},
        "state": diff.get("state", {}),
        "action": None if action is None else (action["name"], action.get("chainable", False)),
    }


def unfolded(entries: Entries, board: Board) -> dict[tuple[str, str], list[Json]]:
    """What the possibilities of each entry say."""
    found = {}
    for pattern in entries.patterns:
        for source, destination in entries.places(pattern):
            origin = destination if pattern.is_drop else source
            base = 0 if origin is None else entries.grid.codes[origin]
            array = []
            for number in pattern.told:
                told = entries.told[number]
                kinds: dict[str, dict[str, str | None]] = {"must": {}, "deny": {}, "becomes": {}}
                for kind, state, place in map(entries.part, (*told.asked, *told.changed)):
                    kinds[kind][board.squares[entries.grid.by_code[base + place]]] = state
                array.append(
                    {
                        "must": kinds["must"],
                        "deny": kinds["deny"],
                        "board": kinds["becomes"],
                        "hands": dict(told.held),
                        "turn": told.turn,
                        "when": {name: sorted(values) for name, values in told.guards},
                        "state": dict(told.state),
                        "action": told.action,
                    }
                )
            found[board.label(source), board.label(destination)] = array
    return found


@in_random_documents(few=20, many=500)
def test_entries_say_all_that_a_document_does_and_their_text_is_read_back(dialect: str, data: st.DataObject) -> None:
    document = data.draw(documents(dialect))
    parsed = parse(document)
    for piece in parsed.pieces:
        entries = entries_of(piece, parsed.board)
        assert unfolded(entries, parsed.board) == {
            (source, destination): [said(each) for each in array]
            for source, destinations in document[piece.identifier].items()
            for destination, array in destinations.items()
        }
        read = Entries.read(entries.text(), entries.grid)
        assert (read.text(), unfolded(read, parsed.board)) == (entries.text(), unfolded(entries, parsed.board))


@in_random_documents(few=10, many=200)
def test_the_text_is_the_same_in_whatever_order_conditions_and_effects_stand(dialect: str, data: st.DataObject) -> None:
    document = data.draw(documents(dialect))
    reordered = json.loads(json.dumps(document))
    for *_, possibility in reference.possibilities(reordered):
        for held in [possibility, *possibility.values(), possibility.get("diff", {}).get("board", {})]:
            if isinstance(held, dict):
                for key in sorted(held, reverse=True):
                    held[key] = held.pop(key)
    one, other = parse(document), parse(reordered)
    for piece, same in zip(one.pieces, other.pieces, strict=True):
        assert entries_of(piece, one.board).text() == entries_of(same, other.board).text()


@in_random_documents(few=20, many=500)
def test_sources_with_other_rules_are_found(dialect: str, data: st.DataObject) -> None:
    draft = data.draw(drafts(dialect))
    changed = data.draw(edited(draft))
    before, after = draft.content, changed.content
    one, other = draft.document(), changed.document()
    squares = {square for each in (one, other) for piece in each.pieces for square in piece.squares()} - {"*"}
    board = boards.around(squares)
    told = [{piece.identifier: entries_of(piece, board) for piece in each.pieces} for each in (one, other)]

    def rules(document: Json, piece: str, source: str) -> Json:
        entries = document[piece].get(source, {})
        return {destination: [said(each) for each in array] for destination, array in entries.items()}

    for piece in told[0].keys() & told[1].keys():
        found = {board.label(number) for number in differing_sources(told[0][piece], told[1][piece])}
        sources = before[piece].keys() | after[piece].keys()
        assert found == {each for each in sources if rules(before, piece, each) != rules(after, piece, each)}


BOARD = Board(("a1", "b1", "a2", "b2"), (2, 2))
SOUND = '[[["must","empty"]],[[[3],[],[],true]],[[false,3,[0],[0,1]]]]'


def test_a_text_by_hand_is_read() -> None:
    grid = Grid.of(BOARD)
    assert grid is not None
    entries = Entries.read(SOUND, grid)
    # On two files a step to the next rank is three squares of a board of all differences.
    assert unfolded(entries, BOARD).keys() == {("a1", "a2"), ("b1", "b2")}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "[]",
        "[" * 100_000,
        SOUND.replace('"must"', '"may"'),
        SOUND.replace('"empty"', "7"),
        SOUND.replace("[[3],", "[[300],"),
        SOUND.replace("[[3],", '[["3"],'),
        SOUND.replace("[[3],", "[[-9],"),
        SOUND.replace("[0],[0,1]", "[1],[0,1]"),
        SOUND.replace("[0],[0,1]", "[0],[0,9]"),
        SOUND.replace("[0],[0,1]", "[0],[0,-1]"),
        SOUND.replace("[0],[0,1]", "[0],[0,2]"),
        SOUND.replace("[],true", "[[7,1]],true"),
        SOUND.replace("false,3", "false,4.5"),
        SOUND.replace("false,3", 'false,"3"'),
    ],
)
def test_what_is_no_text_of_entries_of_this_board_is_an_error(text: str) -> None:
    grid = Grid.of(BOARD)
    assert grid is not None
    with pytest.raises(ValueError, match="these are no entries"):
        Entries.read(text, grid)
