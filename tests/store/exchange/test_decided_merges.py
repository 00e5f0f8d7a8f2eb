"""Conflicts of a merge that are decided for one side: by load, push and pull, on both databases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggn_store import GgnStoreError, InputError, Store, generate, parse, read_definition
from ggn_store.api.loading import sources
from ggn_store.errors import HeadMovedError
from ggn_store.model.changes.merge import Preference, merge
from ggn_store.model.documents.document import Document, Envelope
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.rooks import NAMED, OURS, STEPS, THEIRS, TITLES, changed, made

CASTLING = '{"crossing":[{"piece":"C:R","source":"a1","destination":"c1","through":["c1"]}]}'

SIDES = {"ours": (OURS, TITLES[0]), "theirs": (THEIRS, TITLES[1])}


@pytest.fixture(params=["ours", "theirs"])
def prefer(request: pytest.FixtureRequest) -> Any:
    return request.param


def text_of(store: Store) -> str:
    return str(store.ruleset("game").document().envelope.definition)


def test_a_load_decides_conflicts_for_one_side_and_merges_the_rest(store: Store, prefer: Preference) -> None:
    store.load(made(), "game", author="Ann")
    store.load(made(THEIRS, TITLES[1], NAMED), "game", author="Bob")
    found = store.load(made(OURS, TITLES[0], STEPS), "game", base="1", merge=True, prefer=prefer, author="Cy")
    assert (found.number, found.status) == (3, "merged")
    assert [conflict.path for conflict in found.decided] == [("definition", "title"), ("definition", "pieces.R.betza")]
    assert text_of(store) == changed(*SIDES[str(prefer)], NAMED, STEPS)
    assert store.ruleset("game").document() == made(*SIDES[str(prefer)], NAMED, STEPS)
    assert found.message == (
        "merged with game@2, based on game@1\n"
        f"note: decided for {prefer}, 2 conflicts: definition title, definition pieces.R.betza"
    )
    assert store.upkeep.check() == []


@pytest.mark.parametrize("is_push", [True, False], ids=["push", "pull"])
def test_push_and_pull_decide_for_the_side_of_who_asks(
    store: Store, prefer: Preference, tmp_path: Path, is_push: bool
) -> None:
    store.load(made(), "game", author="Ann")
    with Store.open(tmp_path / "mine.db") as mine:
        mine.exchange.pull(store, "game")
        mine.load(made(OURS, TITLES[0], STEPS), "game", author="Cy")
        store.load(made(THEIRS, TITLES[1], NAMED), "game", author="Bob")
        exchange = mine.exchange.push if is_push else mine.exchange.pull
        [done] = exchange(store, "game", merge=True, prefer=prefer, author="Cy", message="decided")
        into = store if is_push else mine
        assert into.ruleset("game").document() == made(*SIDES[str(prefer)], NAMED, STEPS)
        assert text_of(into) == changed(*SIDES[str(prefer)], NAMED, STEPS)
        note = f"decided for {prefer}, 2 conflicts: definition title, definition pieces.R.betza"
        assert (done.note, [each["key"] for each in done.data()["decided"]]) == (note, ["title", "pieces.R.betza"])
        head = into.ruleset("game").revision
        assert (head.message, head.author, len(head.parents)) == (f"decided\nnote: {note}", "Cy", 2)


A, B, C, D = ({"must": {square: "empty"}} for square in ("a1", "b1", "c1", "d1"))


def plain(title: str | None = None, definition: str | None = None, **to: Any) -> Document:
    return replace(parse({"C:K": {"e1": to}}), envelope=Envelope(title=title, definition=definition))


def test_entries_and_fields_of_documents_are_decided_one_by_one(prefer: Preference) -> None:
    base, ours = plain("T", e2=[A], d2=[A], f2=[A]), plain("O", e2=[B], d2=[B], f2=[A], f1=[A])
    found = merge(base, ours, plain("H", e2=[C], d2=[A], f2=[D]), prefer=prefer)
    side: dict[str, Any] = {"e2": [B]} if prefer == "ours" else {"e2": [C]}
    expected = plain("O" if prefer == "ours" else "H", **side, d2=[B], f2=[D], f1=[A])
    assert found.document is not None
    assert (found.document.envelope, found.conflicts) == (expected.envelope, ())
    [piece], [wanted] = found.document.pieces, expected.pieces
    assert sorted(piece.entries(), key=str) == sorted(wanted.entries(), key=str)
    assert [conflict.path for conflict in found.decided] == [("title",), ("C:K", "e1", "e2")]


def test_an_entry_that_a_side_removed_is_gone_where_it_decides(prefer: Preference) -> None:
    base, ours = plain(e2=[A], d2=[A]), plain(d2=[A])
    found = merge(base, ours, plain(e2=[B], d2=[A]), prefer=prefer)
    assert found.document == (ours if prefer == "ours" else plain(e2=[B], d2=[A]))


def test_what_no_value_decides_takes_a_sides_rules(prefer: Preference) -> None:
    """A definition of one side, and entries that the other changed by hand, give no truthful document."""
    base = made()
    ours = Document(base.dialect, base.pieces[:-1], replace(base.envelope, title="By hand"))
    theirs = made(THEIRS)
    found = sources.merge(base, ours, theirs, prefer=prefer)
    assert found.document is not None
    assert [conflict.path for conflict in found.decided] == [("definition",)]
    side = ours if prefer == "ours" else theirs
    assert found.document == replace(side, envelope=replace(side.envelope, title="By hand"))


def test_changes_that_together_are_no_definition_are_decided_for_a_whole_side(prefer: Preference) -> None:
    less = made(('[zones]\nlast = "a3:c3"\n', ""), ('zone = "last"', 'zone = "a3"'))
    more = made(('betza = "N"', 'betza = "N"\nconfined = "last"'))
    found = sources.merge(made(), less, more, prefer=prefer)
    assert found.document == (less if prefer == "ours" else more)
    assert "together are no definition" in str(found.decided[0].reason)


def test_what_a_file_beside_a_definition_states_is_decided(prefer: Preference) -> None:
    def stated(title: str, *changes: tuple[str, str]) -> Document:
        document = made(*changes)
        return replace(document, envelope=replace(document.envelope, title=title), made_from=None)

    found = sources.merge(made(), stated("O", NAMED), stated("H", STEPS), prefer=prefer)
    assert found.document is not None
    assert found.document.envelope.title == ("O" if prefer == "ours" else "H")
    assert [conflict.path for conflict in found.decided] == [("title",)]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"start": "2k^/3/R1K^ / C/c"}, "the start position has pieces off the board, on c1, c3"),
        ({"play": CASTLING}, "how it is played names c1, which it does not have"),
    ],
)
def test_what_is_stated_of_a_definition_fits_what_the_merged_text_gives(
    store: Store, prefer: Preference, tmp_path: Path, said: dict[str, str], reason: str
) -> None:
    bare = (('start = "2k^/3/R1K^ / C/c"', ""), ('last = "a3:c3"', 'last = "a3"'))
    base, theirs, changes = made(*bare), made(*bare, ('board = "3x3"', 'board = "2x3"')), made(*bare, STEPS)
    ours = replace(changes, envelope=replace(changes.envelope, **said), made_from=None)
    assert sources.merge(base, ours, theirs, prefer=prefer).document == (ours if prefer == "ours" else theirs)
    for document in (base, theirs):
        store.load(document, "game")
    with pytest.raises(HeadMovedError) as caught:
        store.load(ours, "game", base="1", merge=True, conflicts=tmp_path / "file")
    [conflict] = caught.value.merge.conflicts
    assert str(conflict.reason).endswith(reason)
    file = tmp_path / "file"
    assert "<<<" not in file.read_text(), "each key was changed by one side only"
    with pytest.raises(GgnStoreError, match=reason):
        store.exchange.resolve(file)
    file.write_text(file.read_text().replace('board = "2x3"', 'board = "3x3"'))
    assert store.exchange.resolve(file).status == "merged"


def test_what_neither_side_had_is_said_of_a_decided_merge_too() -> None:
    bishop = '\n[pieces.B]\nbetza = "B"\n'
    large = (('board = "3x3"', 'board = "4x4"'), ('"2k^/3/R1K^ / C/c"', '"3k^/4/4/R2K^ / C/c"'))
    ours = generate(read_definition(changed(OURS) + bishop))
    found = sources.merge(made(), ours, made(THEIRS, *large), prefer="ours")
    assert str(found.note).startswith("decided for ours, 1 conflict: definition pieces.R.betza; ")
    assert "gives something that neither side had in C:R, C:B, c:r, c:b: " in str(found.note)
    assert sources.merge(made(), made(OURS), made(THEIRS, NAMED), prefer="ours").note == (
        "decided for ours, 1 conflict: definition pieces.R.betza"
    )


def test_only_a_merge_decides_conflicts_and_only_for_one_side(store: Store) -> None:
    store.load(made(), "game")
    with pytest.raises(InputError, match="give merge=True, too"):
        store.load(made(OURS), "game", base="1", prefer="ours")
    with pytest.raises(InputError, match='and not for "mine"'):
        store.load(made(OURS), "game", base="1", merge=True, prefer="mine")  # type: ignore[arg-type]


def test_the_command_line_lists_what_it_decided(ggn: Command) -> None:
    for name, changes in {"game": (), "theirs": (THEIRS,), "mine": (OURS,)}.items():
        Path(f"{name}.toml").write_text(changed(*changes))
    ggn("load", "game.toml")
    ggn("load", "theirs.toml", "--name", "game")
    load = ("load", "mine.toml", "--name", "game", "--base", "1")
    for wrong, said in (
        (("--ours",), "--ours decides the conflicts of a merge: give --merge, too"),
        (("--theirs",), "--theirs decides the conflicts of a merge: give --merge, too"),
        (("--merge", "--ours", "--theirs"), "give one of them"),
    ):
        refused = ggn(*load, *wrong)
        assert refused.code == 2
        assert said in refused.err
        assert ggn("push", "game", "--remote", "other.db", *wrong).code == 2
    done = ggn(*load, "--merge", "--ours")
    assert done.code == 0
    assert done.err.splitlines() == [
        "note: decided for ours, 1 conflict: definition pieces.R.betza",
        "  ! definition pieces.R.betza",
        '      base:   "R"',
        '      ours:   "R3"',
        '      theirs: "R2"',
    ]
