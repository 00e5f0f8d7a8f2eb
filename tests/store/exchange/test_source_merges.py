"""Two people who change one definition or one game description: by load, push and pull, on both databases."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ggn_store import ConflictError, Store, generate, read_definition
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.model.documents.document import Document
from tests.support.databases import mostly_sqlite
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.rooks import TEXT, changed

KNIGHT = ('betza = "N"', 'betza = "NW"  # and steps')
ROOK = ('betza = "R"', 'betza = "R2"')
FORCED = ('to = ["N"] }', 'to = ["N"], forced = true }')
KEPT = ('zone = "last", to', 'zone = "last", on = "enter-or-leave", to')
BISHOP = '\n[pieces.B]\nbetza = "B"\n'


LARGE = changed(('board = "3x3"', 'board = "4x4"'), ('"2k^/3/R1K^ / C/c"', '"3k^/4/4/R2K^ / C/c"'))


def moved(store: Store, theirs: str, base: str = TEXT) -> None:
    store.load(read_definition(base), "game", author="Ann")
    store.load(read_definition(theirs), "game", author="Bob")


def merged(store: Store, ours: str, theirs: str, base: str = TEXT) -> Any:
    moved(store, theirs, base)
    return store.load(read_definition(ours), "game", base="1", merge=True, author="Cy", message="mine")


def stored(store: Store, reference: str = "game") -> Document:
    return store.ruleset(reference).document()


def text_of(store: Store, reference: str = "game") -> str:
    return str(stored(store, reference).envelope.definition)


def test_changes_of_different_keys_are_merged_and_what_is_stored_is_generated_from_the_text(store: Store) -> None:
    revision = merged(store, changed(KNIGHT, ("# Whoever likes", "# Who likes")), changed(ROOK))
    assert (revision.number, revision.status, revision.author) == (3, "merged", "Cy")
    assert revision.message == "mine\n\nmerged with game@2, based on game@1"
    assert text_of(store) == changed(KNIGHT, ROOK, ("# Whoever likes", "# Who likes"))
    assert stored(store) == generate(read_definition(text_of(store)))
    assert store.upkeep.check() == []


def test_two_keys_of_one_line_are_merged(store: Store) -> None:
    merged(store, changed(FORCED), changed(KEPT))
    both = changed(('to = ["N"] }', 'on = "enter-or-leave", to = ["N"], forced = true }'))
    assert tomllib.loads(text_of(store)) == tomllib.loads(both)
    assert "# kings and one rook" in text_of(store)
    assert "# Whoever likes it" in text_of(store)


def test_how_the_game_is_played_comes_out_of_the_merged_text(store: Store) -> None:
    playing = ("[zones]", '[play]\nduties = ["royal-safety"]\n\n[zones]')
    host = ("[zones]", '[play]\noutcome = [{ when = "no-move", verdict = "draw" }]\n\n[zones]')
    merged(store, changed(playing), changed(host))
    play = str(stored(store).envelope.play)
    assert "royal-safety" in play
    assert "no-move" in play


def test_push_and_pull_merge_as_load_does(store: Store, tmp_path: Path) -> None:
    store.load(read_definition(TEXT), "game", author="Ann")
    with Store.open(tmp_path / "one.db") as one, Store.open(tmp_path / "two.db") as two:
        for mine in (one, two):
            mine.exchange.pull(store, "game")
            mine.load(read_definition(changed(KNIGHT)), "game", author="Cy")
        store.load(read_definition(changed(ROOK, FORCED)), "game", author="Bob")
        [pulled] = one.exchange.pull(store, "game", merge=True)
        [pushed] = two.exchange.push(store, "game", merge=True)
        assert (pulled.status, pulled.note, pushed.status, pushed.note) == ("merged", None, "merged", None)
        assert stored(one) == stored(store) == generate(read_definition(changed(KNIGHT, ROOK, FORCED)))


def test_a_pull_says_what_neither_side_had(store: Store, tmp_path: Path) -> None:
    store.load(read_definition(TEXT), "game", author="Ann")
    with Store.open(tmp_path / "one.db") as mine:
        mine.exchange.pull(store, "game")
        mine.load(read_definition(TEXT + BISHOP), "game", author="Cy")
        store.load(read_definition(LARGE), "game", author="Bob")
        [pulled] = mine.exchange.pull(store, "game", merge=True)
        assert "gives something that neither side had in " in str(pulled.note)
        assert str(mine.ruleset("game").revision.message).endswith(f"\nnote: {pulled.note}")


def test_one_key_with_two_values_is_a_conflict_with_both_and_the_base(store: Store) -> None:
    moved(store, changed(KNIGHT, ROOK))
    with pytest.raises(ConflictError, match=r"1 conflict: definition pieces\.R\.betza; base the document") as caught:
        store.load(read_definition(changed(('betza = "R"', 'betza = "R3"'))), "game", base="1", merge=True)
    [conflict] = caught.value.merge.data()["conflicts"]
    assert conflict == {
        "field": "definition",
        "key": "pieces.R.betza",
        "reason": None,
        "base": '"R"',
        "ours": '"R3"',
        "theirs": '"R2"',
    }
    assert len(store.history.log("game")) == 2


def test_one_key_with_one_new_value_is_no_conflict(store: Store) -> None:
    new = ("[zones]", '[zones]\nmiddle = "b2"')
    merged(store, changed(new, KNIGHT), changed(new, ROOK))
    assert text_of(store) == changed(new, KNIGHT, ROOK)


def test_a_table_that_one_side_removed_and_the_other_changed_is_a_conflict(store: Store) -> None:
    less = changed(('\n[pieces.N]\nbetza = "N"\n', ""), ('promotion = { zone = "last", to = ["N"] }\n', ""))
    moved(store, changed(KNIGHT))
    with pytest.raises(ConflictError, match=r"1 conflict: definition pieces\.N;") as caught:
        store.load(read_definition(less), "game", base="1", merge=True)
    assert [caught.value.merge.conflicts[0].ours, caught.value.merge.conflicts[0].base] == [None, '{ betza = "N" }']


def test_changes_that_together_are_no_definition_are_a_conflict(store: Store) -> None:
    less = changed(('[zones]\nlast = "a3:c3"\n', ""), ('zone = "last"', 'zone = "a3"'))
    more = changed(('betza = "N"', 'betza = "N"\nconfined = "last"'))
    moved(store, more)
    with pytest.raises(ConflictError, match="1 conflict: definition") as caught:
        store.load(read_definition(less), "game", base="1", merge=True)
    assert "the changes of both sides together are no definition: " in caught.value.merge.conflicts[0].reason


def test_what_neither_side_had_is_said_in_the_result(store: Store) -> None:
    revision = merged(store, TEXT + BISHOP, LARGE)
    assert stored(store) == generate(read_definition(LARGE + BISHOP))
    note = str(revision.message).splitlines()[-1]
    assert note.startswith("note: the merged definition gives something that neither side had in ")
    assert "C:B" in note
    assert note.endswith(": see that it is what both meant")


def test_entries_changed_by_hand_are_not_lost_to_a_merge_of_texts(store: Store) -> None:
    """A side whose text does not give its entries is merged entry by entry."""
    document = generate(read_definition(changed(ROOK)))
    by_hand = Document(document.dialect, document.pieces[:-1], document.envelope)
    store.load(read_definition(TEXT), "game")
    store.load(by_hand, "game")
    with pytest.raises(ConflictError, match="1 conflict: definition;"):
        store.load(read_definition(changed(KNIGHT)), "game", base="1", merge=True)


@mostly_sqlite
def test_descriptions_are_merged_by_their_members(store: Store) -> None:
    text = (Path(__file__).parents[3] / "data" / "gdl" / "checkers.json").read_text()
    ours = changed(('"name": "Checkers"', '"name": "Draughts"'), text=text)
    theirs = changed(
        ('"license": "MIT"', '"license": "CC0"'), ('"structure": "grid(8, 8)"', '"structure":  "grid(8,8)"'), text=text
    )
    for each in (text, theirs):
        store.load(compile_specification(each).document, "game")
    store.load(compile_specification(ours).document, "game", base="1", merge=True)
    assert text_of(store) == changed(('"name": "Checkers"', '"name": "Draughts"'), text=theirs)
    assert stored(store) == compile_specification(text_of(store)).document
    assert stored(store).envelope.title == "Draughts"
    other = changed(('"license": "MIT"', '"license": "GPL"'), text=text)
    with pytest.raises(ConflictError, match="1 conflict: definition /metadata/license;"):
        store.load(compile_specification(other).document, "game", base="1", merge=True)


def test_a_conflict_takes_few_lines_on_the_command_line(ggn: Command) -> None:
    for name, text in {
        "game": TEXT,
        "theirs": changed(KNIGHT, ROOK),
        "ours": changed(('betza = "R"', 'betza = "R3"'), ('betza = "N"', 'betza = "NF"')),
    }.items():
        Path(f"{name}.toml").write_text(text)
    assert ggn("load", "game.toml").code == 0
    assert ggn("load", "theirs.toml", "--name", "game", "--base", "1").code == 0
    result = ggn("load", "ours.toml", "--name", "game", "--base", "1", "--merge")
    assert result.code == 3
    assert result.err.splitlines()[-9:] == [
        "conflicts:",
        "  ! definition pieces.R.betza",
        '      base:   "R"',
        '      ours:   "R3"',
        '      theirs: "R2"',
        "  ! definition pieces.N.betza",
        '      base:   "N"',
        '      ours:   "NF"',
        '      theirs: "NW"',
    ]
    assert len(result.err.splitlines()) <= 20
