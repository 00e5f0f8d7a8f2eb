"""Sources come back: what a revision was made from, and files of it that are the same revision when they are loaded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Document, Store, convert, limits, parse, read_definition, ruleset
from ggn_store.api.loading.games import library_files, library_source
from ggn_store.documents import beside
from ggn_store.errors import ConversionError, GateError, UnknownNameError
from ggn_store.games import generate, library
from ggn_store.model.documents.document import DIALECTS, Dialect, Envelope
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Duty, Play
from ggn_store.model.teams.revision import Revision
from tests.support.databases import mostly_sqlite
from tests.support.gdl_tiny import tiny
from tests.support.people import KNIGHT, ROOK, People
from tests.support.people import people as people
from tests.support.program import Command, Result, write
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.sampled import sampled

STEP = """# A game of one step.\r
title = 'Step'
board = "3x3"   # small
style = "S"
start = "2k/3/K2 / S/s"

[play]
duties = ["pass"]

[pieces.K]
betza = "W"  # "quoted" \\ and '''
"""


# The smallest of each kind; the others are long.
QUICK = (
    "tic-tac-toe",
    "hexapawn",
    "examples/must-deny-drop-from-hand",
    "examples/perform-simple-move",
    "gdl/contraband",
)
LIBRARY = [
    pytest.param(file.name, marks=() if file.name in QUICK else pytest.mark.long)
    for file in library_files(["all", "examples", "gdl"])
    if file.name != "atomic"  # whose document is larger than a file may be, unless the limit is raised
]


def made(text: str = STEP) -> Document:
    return generate.generate(read_definition(text))


def exported(store: Store, reference: str, directory: Path, dialect: Dialect | None = None) -> Path:
    """The files of a revision, as `export -o` writes them."""
    found = store.ruleset(reference)
    path = directory / "again.json"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(found.export_parts(dialect))
    path.with_suffix(".toml").write_bytes(found.export_beside(dialect).encode())
    return path


def comes_back(store: Store, name: str, directory: Path) -> Path:
    """Whether the files of a revision, loaded under another name, are the same revision, made from the same."""
    path = exported(store, name, directory)
    is_as_before(store, name, store.load(path, "again"))
    assert store.load(path, name).status == "unchanged", name
    return path


def is_as_before(store: Store, name: str, loaded: Revision) -> None:
    before, again = store.ruleset(name), store.ruleset(str(loaded))
    assert again.revision.digest == before.revision.digest, name
    assert again.revision.envelope == before.revision.envelope, name
    if before.revision.envelope.definition is not None:
        assert again.export_definition() == before.export_definition(), name


# Documents with all that can be kept beside them.
OTHERWISE: dict[str, Any] = {
    "title": 'Q"u\\ick\x7f\n ü',
    "source": "",
    "start": None,
    "play": play_text.text(Play(host=("points",))),
}


def told(document: Document, **envelope: Any) -> Document:
    return replace(document, envelope=replace(document.envelope, **envelope))


ENVELOPES: dict[str, Callable[[], Document]] = {
    "a definition": made,
    "a definition, and another title": lambda: told(made(), **OTHERWISE),
    "a definition, and a schema": lambda: told(made(), schema="https://example.org/s"),
    "a definition of another document": lambda: replace(parse(KNIGHT), envelope=Envelope(definition=STEP)),
    "a definition in another dialect": lambda: convert(made(), "perform"),
    "a description": lambda: ruleset(tiny()).document(),
    "a description, and another title": lambda: told(ruleset(tiny()).document(), **OTHERWISE),
    "no definition": lambda: replace(
        parse(KNIGHT), envelope=Envelope(title="T", play=play_text.text(Play((Duty("pass"),))))
    ),
    "nothing": lambda: parse(KNIGHT),
}


@mostly_sqlite
@pytest.mark.parametrize("kind", ENVELOPES)
def test_an_export_is_the_same_revision_when_it_is_loaded(store: Store, tmp_path: Path, kind: str) -> None:
    store.load(ENVELOPES[kind](), "game")
    comes_back(store, "game", tmp_path)


def test_what_stands_beside_an_exported_game_is_its_definition(store: Store) -> None:
    store.load(made(), "game")
    assert store.ruleset("game").export_beside() == STEP
    store.load(replace(made(), envelope=replace(made().envelope, title="Another")), "game")
    assert store.ruleset("game").export_beside().startswith('definition = """\n# A game of one step.\\r\n')
    assert store.ruleset("game@2").export_definition() == STEP


def test_a_document_of_another_dialect_has_no_description_beside_it(store: Store, tmp_path: Path) -> None:
    document = ruleset(tiny()).document()
    with_title = replace(document, envelope=replace(document.envelope, title="Tiny"))
    store.load(with_title, "tiny")
    assert 'title = "Tiny"' in store.ruleset("tiny").export_beside("diff")
    assert "definition" not in store.ruleset("tiny").export_beside("diff")


def test_a_definition_may_be_as_long_as_its_limit_wherever_it_stands(tmp_path: Path) -> None:
    longest = limits.DESCRIPTION_BYTES.most
    path = tmp_path / "game.toml"
    for definition in ("'\\" * (longest // 2), '"\n' * (longest // 2)):
        said = Envelope(title="Long", definition=definition)
        path.write_text(beside.toml(said), encoding="utf-8")
        assert beside.envelope(path) == (said, ())
    path.write_text(f"{beside.toml(said)}#{'x' * limits.DEFINITION_BYTES.most}", encoding="utf-8")
    assert "too long" in str(beside.envelope(path)[1])


@pytest.mark.parametrize("name", sampled(LIBRARY))
def test_a_game_of_the_library_comes_back(people: People, tmp_path: Path, name: str) -> None:
    store = people.admin
    store.load_library(name)
    path = comes_back(store, name, tmp_path)
    # Past a review, too.
    store.policies.set("team", review=1)
    merged = people.approve("bob", people.propose("ann", path, "team/game"))
    assert merged.state == "merged"
    is_as_before(store, name, store.ruleset("team/game").revision)
    if name.startswith("examples/"):
        return
    # The source alone, whole where its file is like another one, is the same revision, too.
    assert store.ruleset(name).export_definition() == library_source(name)
    alone = tmp_path / f"alone{path.suffix if name.startswith('gdl/') else '.toml'}"
    alone.write_bytes(store.ruleset(name).export_definition().encode())
    assert name == "gdl/checkers" or store.load(alone, name).status == "unchanged"


@mostly_sqlite
@pytest.mark.parametrize("name", sampled(LIBRARY))
def test_a_game_of_the_library_comes_back_in_every_dialect_that_can_say_it(
    store: Store, tmp_path: Path, name: str
) -> None:
    store.load_library(name)
    own = store.ruleset(name)
    said = {own.dialect}
    for dialect in DIALECTS:
        if dialect == own.dialect:
            continue
        try:
            path = exported(store, name, tmp_path, dialect)
        except ConversionError:
            continue
        said.add(dialect)
        converted = store.ruleset(str(store.load(path, "converted")))
        is_kept = "gdl" not in (own.dialect, dialect)
        assert converted.revision.envelope.definition == (own.revision.envelope.definition if is_kept else None)
        is_as_before(store, "converted", store.load(exported(store, "converted", tmp_path), "again"))
        if own.dialect != "gdl":  # which names actions that the others do not
            store.load(exported(store, "converted", tmp_path, own.dialect), "back")
            assert store.ruleset("back").export() == own.export()
    assert own.dialect == "must-deny" or "gdl" in said
    labels = [str(square) for _, _, square, *_ in store.views.rows("v_squares", name)]
    if own.dialect == "perform":  # diff names squares as e4 or a1A, and shogi's books as 4e
        assert ("diff" in said) == all(re.fullmatch("[a-z]+[1-9][0-9]*[A-Z]*", label) for label in labels)


# --- under review ---


def test_an_old_revision_comes_back_whole_through_a_review(people: People, tmp_path: Path) -> None:
    first = people.load("ann", made(), "team/step")
    people.load("ann", ROOK, "team/step")
    people.admin.policies.set("team", review=1)
    path = exported(people.admin, "team/step@1", tmp_path)
    merged = people.approve("bob", people.propose("ann", path, "team/step"))
    assert merged.revision == 3
    head = people.admin.ruleset("team/step").revision
    assert (head.digest, head.envelope) == (first.digest, first.envelope)


def test_an_old_revision_is_proposed_as_it_was(people: People) -> None:
    first = people.load("ann", made(), "team/step")
    people.load("ann", ROOK, "team/step")
    people.admin.policies.set("team", review=1)
    with pytest.raises(GateError, match=r"an old revision with `ggn-store propose team/step@NUMBER`"):
        people.store("ann").history.restore("team/step@1", author="ann")
    proposal = people.store("ann").reviews.restore("team/step@1", author="ann")
    assert (str(proposal), proposal.base, proposal.message) == ("team/step#1", 2, "restore team/step@1")
    assert people.admin.reviews.ruleset("team/step#1").export_definition() == STEP
    people.approve("bob", proposal)
    head = people.admin.ruleset("team/step").revision
    assert (head.number, head.digest, head.envelope, head.author) == (3, first.digest, first.envelope, "ann")
    with pytest.raises(UnknownNameError, match="team/step has no revision 7"):
        people.store("ann").reviews.restore("team/step@7", author="ann")


# --- from the command line ---


def test_a_definition_is_written_byte_for_byte(ggn: Command) -> None:
    Path("step.toml").write_bytes(STEP.encode())
    Path("tiny.json").write_bytes((json.dumps(tiny(), indent=1, ensure_ascii=False) + "\r\n").encode())
    ggn("load", "step.toml", "tiny.json")
    for name, file in (("step", "step.toml"), ("tiny", "tiny.json")):
        assert ggn("export", name, "--definition", "-o", "out") == Result(0, "", "")
        assert Path("out").read_bytes() == Path(file).read_bytes()
        assert ggn("export", name, "--definition").out.encode() == Path(file).read_bytes()
    ggn("load", write("plain.json", KNIGHT))
    refused = ggn("export", "plain", "--definition", "-o", "other")
    assert refused == Result(
        1, "", "Error: plain@1 has no definition: it was loaded as a document, which `ggn-store export` writes\n"
    )
    assert not Path("other").exists()
    assert ggn("export", "step", "--definition", "--dialect", "perform").code == 2
    assert ggn("export", "out", "--definition", "--format", "csv").code == 2


def test_files_of_a_proposal_have_its_definition(ggn: Command) -> None:
    Path("step.toml").write_bytes(STEP.encode())
    ggn("propose", "step", "step.toml", "--author", "Ann")
    assert ggn("proposal", "step#1", "--document", "-o", "p.json").code == 0
    assert Path("p.toml").read_bytes() == STEP.encode()
    assert ggn("export", "step#1", "--definition").out == STEP


def test_an_old_revision_is_proposed_without_a_file(ggn: Command) -> None:
    Path("step.toml").write_bytes(STEP.encode())
    ggn("load", "step.toml")
    ggn("load", write("plain.json", KNIGHT), "--name", "step")
    ggn("policy", "set", "*", "--review", "1", "--author", "Ann")
    assert "name a FILE to propose, or an old revision: step@1" in ggn("propose", "step").err
    assert ggn("propose", "step@1", "--base", "1").code == ggn("propose", "step@1", "--dialect", "diff").code == 2
    proposed = ggn("propose", "step@1", "--author", "Ann")
    assert proposed.out == "step#1: proposed on step@2; it needs 1 approval\n"
    again = ggn("propose", "step@2", "--author", "Ann")
    assert (again.code, again.err) == (3, "Error: there is nothing to propose: step@2 is what the document says\n")
    again = ggn("propose", "step@1", "--author", "Ann")
    assert (again.code, again.out) == (3, "")
    assert ggn("export", "step#1", "--definition").out == STEP


def test_a_game_begins_like_another_one(ggn: Command) -> None:
    begun = ggn("new", "my-game", "--like", "tic-tac-toe")
    told = "my-game.toml begins like tic-tac-toe of the library: edit it, then `ggn-store load my-game.toml`\n"
    assert begun == Result(0, "", told)
    shipped = library.path_of("tic-tac-toe").read_text("utf-8")
    text = Path("my-game.toml").read_text("utf-8")
    changed = [pair for pair in zip(shipped.splitlines(), text.splitlines(), strict=True) if len(set(pair)) > 1]
    assert changed == [('title = "Tic-tac-toe"', 'title = "My game"')]
    assert ggn("load", "my-game.toml").out.startswith("my-game@1: loaded")
    again = ggn("new", "my-game", "--like", "chess")
    assert again == Result(1, "", "Error: my-game.toml: there is such a file already: name another one with -o\n")
    assert Path("my-game.toml").read_text("utf-8") == text


def test_a_game_begins_like_one_of_the_store(ggn: Command) -> None:
    Path("step.toml").write_bytes(STEP.encode())
    Path("tiny.json").write_text(json.dumps(tiny(), indent=1))
    ggn("load", "step.toml", "--name", "team/chess")
    ggn("load", "step.toml", "--name", "chess")
    ggn("load", "tiny.json")
    for like in ("chess", "team/chess@1"):
        begun = ggn("new", "team/x", "--like", like, "--title", 'The "x"', "-o", "-")
        assert begun == Result(0, STEP.replace("'Step'", r'"The \"x\""'), "")
    begun = ggn("new", "team/x", "--like", "tiny")
    assert begun.err == "x.json begins like tiny@1: edit it, then `ggn-store load x.json --name team/x`\n"
    assert json.loads(Path("x.json").read_text()) == tiny() | {"metadata": tiny()["metadata"] | {"name": "X"}}
    assert ggn("load", "x.json", "--name", "team/x").code == 0
    ggn("load", write("plain.json", KNIGHT))
    for arguments, told in (
        (("y", "--like", "plain"), "Error: plain@1 has no definition"),
        (("y", "--like", "ches"), 'Error: the store has no ruleset "ches": did you mean chess?'),
        (("a b", "--like", "chess"), 'Error: "a b" cannot name a ruleset'),
        (("y", "--like", "chess", "--title", "\x00"), "Error: the new definition:2:1 title: "),
        (("y",), "Usage:"),
    ):
        refused = ggn("new", *arguments)
        assert refused.code in (1, 2)
        assert refused.err.startswith(told)
    assert not Path("y.toml").exists()
