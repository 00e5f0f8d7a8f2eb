"""Conflicts that people resolve in a file: after a load, a push and a pull, on both databases."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggn_store import ConflictError, InputError, Store, parse
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.errors import DocumentError, GateError
from ggn_store.model.documents.document import Document, Envelope
from tests.support.databases import DATABASES, mostly_sqlite
from tests.support.gdl_tiny import tiny
from tests.support.marks import chunks, take
from tests.support.people import People
from tests.support.people import people as people
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.rooks import NAMED, OURS, STEPS, TEXT, THEIRS, TITLES, changed, made

THREE = ('betza = "R"', 'betza = "R3"')
A, B, C, D = ({"must": {square: "empty"}} for square in ("a1", "b1", "c1", "d1"))


def described(name: str, board: int | None = None) -> Document:
    value = tiny()
    value["metadata"]["name"] = name
    del value["interactions"]["list"]["slide"]  # which makes most of the possibilities
    value["game_flow"]["phases"]["main"]["allowed_actions"] = ["step"]
    if board is not None:
        value["metadata"]["version"] = str(board)
    return compile_specification(json.dumps(value, indent=1 if board is None else None)).document


def plain(title: str, *possibilities: Any, **others: Any) -> Document:
    content = {"C:K": {"e1": {"e2": list(possibilities), **others}}}
    return replace(parse(content), envelope=Envelope(title=title))


# Base, ours and theirs, and what comes of taking ours.
KINDS: dict[str, Callable[[], tuple[Document, Document, Document, Document]]] = {
    "definition": lambda: (
        made(),
        made(OURS, TITLES[0], STEPS),
        made(THEIRS, TITLES[1], NAMED),
        made(OURS, TITLES[0], STEPS, NAMED),
    ),
    "description": lambda: (described("base"), described("ours"), described("theirs"), described("ours")),
    "description on one line": lambda: (described("b", 1), described("o", 1), described("t", 1), described("o", 1)),
    "document": lambda: (
        plain("T", A, d2=[A], f2=[A]),
        plain("O\u2028\x85", A, B, d2=[B], f2=[A]),  # which TOML takes for no line breaks
        plain("H", A, C, d2=[A], f2=[D]),
        plain("O\u2028\x85", A, B, d2=[B], f2=[D]),
    ),
}


@functools.cache
def made_of(kind: str) -> tuple[Document, Document, Document, Document]:
    return KINDS[kind]()


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> Any:
    return made_of(request.param)


def same(found: Document, wanted: Document) -> None:
    assert (found.pieces, found.envelope.title) == (wanted.pieces, wanted.envelope.title)
    if wanted.dialect != "gdl":
        assert found == wanted


def conflict_of_load(store: Store, kind: tuple[Document, ...], file: Path) -> ConflictError:
    base, ours, theirs, _ = kind
    store.load(base, "game", author="Ann")
    store.load(theirs, "game", author="Bob")
    with pytest.raises(ConflictError) as caught:
        store.load(ours, "game", base="1", merge=True, conflicts=file, author="Cy")
    return caught.value


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        pytest.param(database, kind, marks=[pytest.mark.long] * (database == "postgres" and kind != "definition"))
        for database in DATABASES
        for kind in KINDS
    ],
    indirect=True,
)
def test_a_load_in_conflict_is_resolved_in_a_file(store: Store, tmp_path: Path, kind: tuple[Document, ...]) -> None:
    file = tmp_path / "file"
    error = conflict_of_load(store, kind, file)
    assert str(error).endswith(f"edit {file}, and then run `ggn-store resolve {file}`")
    written = file.read_text()
    assert chunks(written)
    assert all(chunk["ours"] != chunk["theirs"] for chunk in chunks(written))
    with pytest.raises(InputError, match=rf"^{file}:\d+: a conflict mark is left, "):
        store.exchange.resolve(file)
    assert len(store.history.log("game")) == 2
    take(file, "ours")
    found = store.exchange.resolve(file, author="Dan", message="ours it is")
    assert (found.status, found.head, found.note) == ("merged", 3, None)
    same(store.ruleset("game").document(), kind[3])
    head = store.ruleset("game").revision
    assert (head.author, head.message) == ("Dan", "ours it is\n\nmerged with game@2, based on game@1")
    assert (head.lineage, store.upkeep.check()) == (found.lineage, [])
    with pytest.raises(ConflictError, match=r"its newest revision is game@3; nothing is stored: begin again"):
        store.exchange.resolve(file)
    assert len(store.history.log("game")) == 3


def apart(store: Store, mine: Store, kind: tuple[Document, ...]) -> None:
    base, ours, theirs, _ = kind
    store.load(base, "game", author="Ann")
    mine.exchange.pull(store, "game")
    mine.load(ours, "game", author="Cy")
    store.load(theirs, "game", author="Bob")


@mostly_sqlite
@pytest.mark.parametrize(  # each kind in one of the ways
    ("kind", "is_push"),
    [
        pytest.param(kind, is_push, id=f"{kind}-{way}", marks=[pytest.mark.long] * (kind.startswith("des") is is_push))
        for kind in KINDS
        for way, is_push in (("push", True), ("pull", False))
    ],
    indirect=["kind"],
)
def test_a_push_or_pull_in_conflict_is_resolved_in_a_file(
    store: Store, tmp_path: Path, kind: tuple[Document, ...], is_push: bool
) -> None:
    file = tmp_path / "file"
    with Store.open(tmp_path / "mine.db") as mine:
        apart(store, mine, kind)
        exchange = mine.exchange.push if is_push else mine.exchange.pull
        with pytest.raises(ConflictError, match="resolve"):
            exchange(store, "game", merge=True, conflicts=file)
        numbers = [each["ours"] for each in chunks(file.read_text())]
        assert numbers
        with pytest.raises(InputError, match="a conflict mark is left"):
            mine.exchange.resolve(file, remote=store)
        take(file, "ours")
        with pytest.raises(InputError, match="name the other store with --remote"):
            mine.exchange.resolve(file)
        into, other = (store, mine) if is_push else (mine, store)
        heads = into.ruleset("game").revision.lineage, other.ruleset("game").revision.lineage
        found = mine.exchange.resolve(file, remote=store, author="Dan", message="ours it is")
        assert (found.status, found.revisions, found.note) == ("merged", 2, None)
        same(into.ruleset("game").document(), kind[3])
        head = into.ruleset("game").revision
        parents = [into.ruleset(f"game@{number}").revision.lineage for number in head.parents]
        assert (head.author, head.message, tuple(parents)) == ("Dan", "ours it is", heads)
        assert into.upkeep.check() == []
        with pytest.raises(ConflictError, match=r"begin again|has been merged since"):
            mine.exchange.resolve(file, remote=store)


@pytest.mark.parametrize("who", ["here", "there"])
def test_a_head_that_moved_meanwhile_is_a_conflict(store: Store, tmp_path: Path, who: str) -> None:
    file = tmp_path / "file"
    with Store.open(tmp_path / "mine.db") as mine:
        apart(store, mine, made_of("definition"))
        with pytest.raises(ConflictError):
            mine.exchange.pull(store, "game", merge=True, conflicts=file)
        take(file, "theirs")
        (mine if who == "here" else store).load(made(), "game", author="Eve")
        before = mine.ruleset("game").revision.lineage
        with pytest.raises(ConflictError, match="game has moved on since the conflicts were written: the head of "):
            mine.exchange.resolve(file, remote=store)
        assert mine.ruleset("game").revision.lineage == before


def test_what_neither_side_had_is_said(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "file"
    conflict_of_load(store, made_of("definition"), file)
    take(file, "ours")
    file.write_text(file.read_text().replace('betza = "K"', 'betza = "W"'))
    found = store.exchange.resolve(file, message="new")
    assert str(found.note).startswith("the merged definition gives something that neither side had in C:K^, c:k^: see")
    assert str(store.ruleset("game").revision.message).endswith(f"\nnote: {found.note}")


def test_what_a_file_beside_the_source_states_is_resolved_too(store: Store, tmp_path: Path) -> None:
    def stated(title: str, *changes: tuple[str, str]) -> Document:
        document = made(*changes)
        return replace(document, envelope=replace(document.envelope, title=title), made_from=None)

    file = tmp_path / "file"
    conflict_of_load(store, (made(), stated("O", NAMED), stated("H", STEPS), made()), file)
    assert chunks(file.read_text())[0]["ours"] == '#= title = "O"\n'
    take(file, "theirs")
    store.exchange.resolve(file)
    assert store.ruleset("game").document() == replace(stated("H", NAMED, STEPS))


def test_changes_that_together_are_no_definition_are_resolved_by_editing(store: Store, tmp_path: Path) -> None:
    less = made(('[zones]\nlast = "a3:c3"\n', ""), ('zone = "last"', 'zone = "a3"'))
    more = made(('betza = "N"', 'betza = "N"\nconfined = "last"'))
    file = tmp_path / "file"
    conflict_of_load(store, (made(), less, more, made()), file)
    assert "\n# the changes of both sides together are no definition: " in file.read_text()
    at = file.read_text().splitlines().index('confined = "last"') + 1
    with pytest.raises(DocumentError, match=rf"^{file}:{at}:\d+ pieces.N.confined: "):
        store.exchange.resolve(file)
    file.write_text(file.read_text().replace('confined = "last"', 'confined = "a3"'))
    assert store.exchange.resolve(file).status == "merged"


def test_a_text_with_marks_of_its_own_gets_longer_ones(store: Store, tmp_path: Path) -> None:
    own = ('title = "Rooks"', 'title = "Rooks"\nnotes = """\n<<<<<<< like this\n=======\n"""')
    file = tmp_path / "file"
    conflict_of_load(store, (made(own), made(own, OURS), made(own, THEIRS), made()), file)
    assert "\n<<<<<<<< ours: " in file.read_text()
    take(file, "ours")
    store.exchange.resolve(file)
    assert store.ruleset("game").document() == made(own, OURS)


HOSTILE = {
    "nothing": "",
    "another file": TEXT,
    "no heading": "# ggn-store conflicts\n# ---- below this line stands the source ----\n",
    "a heading of nothing": "# ggn-store conflicts\n# {}\n# ---- below this line stands the source ----\n",
    "a deep heading": f"# ggn-store conflicts\n# {'[' * 9000}\n# ---- below this line stands the source ----\n",
    "many lines": "# ggn-store conflicts\n" * 20_000,
    "no text": "# ggn-store \udcff",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_conflict_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(text.encode(errors="surrogateescape"))
    with Store.open(tmp_path / "a.db") as store, pytest.raises(InputError, match=f"^{file}:"):
        store.exchange.resolve(file)


def test_a_heading_that_somebody_changed_is_refused(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "file"
    conflict_of_load(store, made_of("definition"), file)
    take(file, "ours")
    text = file.read_text()
    heading = json.loads(text.splitlines()[1].removeprefix("# "))
    others: dict[str, list[Any]] = {
        "command": ["merge", None, []],
        "name": ["a b", 1, "x" * 10_000],
        "to": ["../x", None, {}],
        "kind": ["game", [], None],
        "dialect": ["chess", [], None],
        "base": ["", 3, "z" * 64],
        "ours": ["A" * 64, True],
        "theirs": [None, "", []],
        "marks": [0, -1, True, "7", None, 10**9],
        "pieces": [None, [1], "abc"],
        "more": [1],
    }
    for key, values in others.items():
        for value in values:
            line = f"# {json.dumps({**heading, key: value})}"
            file.write_text("\n".join([text.splitlines()[0], line, *text.splitlines()[2:]]))
            if (key, value) == ("marks", 10**9):
                continue
            with pytest.raises(InputError, match=r":2: what was being merged does not stand here as it was written"):
                store.exchange.resolve(file)
    file.write_text(text.replace(heading["theirs"], heading["base"]))
    with pytest.raises(ConflictError, match="moved on"):
        store.exchange.resolve(file)
    assert len(store.history.log("game")) == 2


def test_under_review_the_resolved_source_is_proposed(people: People, tmp_path: Path) -> None:
    file = tmp_path / "file"
    base, ours, theirs, wanted = made_of("definition")
    people.load("ann", base, "team/game")
    people.load("ann", theirs, "team/game")
    people.admin.policies.set("team", review=1)
    with pytest.raises(ConflictError):
        people.store("ann").load(ours, "team/game", base="1", merge=True, conflicts=file, author="ann")
    take(file, "ours")
    with pytest.raises(GateError, match="takes only what was proposed"):
        people.store("ann").exchange.resolve(file, author="ann")
    proposal = people.store("ann").reviews.resolve(file, author="ann", message="ours")
    assert (str(proposal), proposal.base, proposal.message) == ("team/game#1", 2, "ours")
    people.approve("bob", proposal)
    assert people.admin.ruleset("team/game").document() == wanted


def test_conflicts_are_resolved_from_the_command_line(ggn: Command) -> None:
    for name, changes in {"game": (), "theirs": (('betza = "R"', 'betza = "R2"'),), "mine": (THREE,)}.items():
        Path(f"{name}.toml").write_text(changed(*changes))
    ggn("load", "game.toml")
    ggn("load", "theirs.toml", "--name", "game")
    load = ("load", "mine.toml", "--name", "game", "--base", "1")
    assert ggn(*load, "--conflicts", "c.toml").code == 2
    failed = ggn(*load, "--conflicts", "c.toml", "--merge")
    assert failed.code == 3
    assert "  edit c.toml, and then run `ggn-store resolve c.toml`\n" in failed.err
    lines = Path("c.toml").read_text().splitlines()
    at = lines.index("<<<<<<< ours: what is loaded")
    assert lines[at + 1 : at + 7] == [
        'betza = "R3"',
        "||||||| base: game@1",
        'betza = "R"',
        "=======",
        'betza = "R2"',
        ">>>>>>> theirs: game@2",
    ]
    left = ggn("resolve", "c.toml")
    assert (left.code, left.out) == (1, "")
    assert left.err.startswith(f'Error: c.toml:{at + 1}: a conflict mark is left, "<<<<<<< ours: what is loaded": ')
    take("c.toml", "ours")
    assert ggn("resolve", "c.toml", "--propose", "--accept-changes").code == 2
    assert ggn("resolve", "c.toml", "-m", "three", "--author", "Dan").out == "game: resolved, head game@3\n"
    again = ggn("resolve", "c.toml")
    assert (again.code, again.err.startswith("Error: game has moved on")) == (3, True)
    assert ggn("export", "game", "--definition").out == changed(THREE)
    assert ggn("resolve", "none").code == 1
