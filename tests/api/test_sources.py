"""Texts that two people changed, made into one again: random edits, beside dictionaries and `git merge-file`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ggn_store import generate, read_definition, resources
from ggn_store.api.loading.sources import DEFINITIONS, DESCRIPTIONS, SIDES, Language, Texts, merge, merge_texts
from ggn_store.errors import DocumentError
from ggn_store.model.changes import lines
from tests.support.definitions import shipped
from tests.support.marks import taken
from tests.support.source_edits import Edit, applied, at, clashing, git_merged, load, pair, written

DATA = resources.directory("data")
PAIRS = int(os.environ.get("GGN_SOURCE_PAIRS", "30"))


def definitions() -> list[Path]:
    return [path for path in sorted((DATA / "games").glob("*.toml")) if "\n[pieces." in shipped(path.stem)]


def descriptions() -> list[Path]:
    return sorted((DATA / "gdl").glob("*.json"))


def text_of(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    # What edits a definition looks for a table for each piece.
    return shipped(path.stem) if "[pieces]" in text or "like =" in text else text


def check(path: Path, number: int, directory: Path) -> str:
    """Merge a random pair and compare; what became of it."""
    text = text_of(path)
    language = DESCRIPTIONS if path.suffix == ".json" else DEFINITIONS
    base = load(text)
    ours, theirs = pair(text, number)
    texts = (text, written(text, ours), written(text, theirs))
    sides = (applied(base, *ours), applied(base, *theirs))
    assert (load(texts[1]), load(texts[2])) == sides, "the edits are not what they say"
    found = merge_texts(language, texts)
    assert found is not None
    clashes = clashing(ours, theirs)
    if clashes:
        check_decided(language, texts, (applied(base, *ours), applied(base, *theirs)), clashes)
        assert found.text is None
        # Two new pieces of one name differ in one key of it alone.
        assert len(found.conflicts) == len(clashes)
        assert {conflict.path[0] for conflict in found.conflicts} == {"definition"}
        for conflict in found.conflicts:
            assert len({conflict.base, conflict.ours, conflict.theirs}) == 3
        return "conflict"
    assert found.conflicts == ()
    assert found.note is None
    assert load(str(found.text)) == applied(applied(base, *ours), *theirs)
    for line in (line for line in texts[1].splitlines() if line.startswith("# remark")):
        assert line in str(found.text), "a comment is lost"
    by_git = git_merged(directory, *texts)
    if by_git is None:
        return "merged where git has conflicts"
    assert load(by_git) == load(str(found.text))
    return "merged as by git"


def check_decided(language: Language, texts: Texts, sides: tuple[Any, Any], clashes: list[Edit]) -> None:
    """Decided for a side, and resolved by taking it each time, a merge has what the side has there."""
    made = {side: merge_texts(language, texts, side) for side in SIDES}
    base, ours, theirs = (str(each.text) for each in made.values() if each is not None)
    text = lines.marked((base, ours, theirs), ("base: b", "ours: o", "theirs: t"), 7)
    for side, wanted in zip(("ours", "theirs"), sides, strict=True):
        resolved = taken(text, side)
        assert resolved == {"ours": ours, "theirs": theirs}[side]
        for edit in clashes:
            assert at(load(resolved), edit.keys) == at(wanted, edit.keys)
    other = load(taken(text, "theirs"))
    for edit in clashes:
        other = applied(other, Edit(edit.keys, at(load(ours), edit.keys), edit.write))
    assert other == load(ours), "what does not clash depends on the side"


def sweep(paths: list[Path], count: int, directory: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for number in range(count):
        became = check(paths[number % len(paths)], number, directory)
        found[became] = found.get(became, 0) + 1
    return found


@pytest.mark.skipif(shutil.which("git") is None, reason="git is what merges are compared with")
@pytest.mark.parametrize("paths", [definitions, descriptions])
def test_random_pairs_of_edits_merge_as_by_dictionaries_and_by_git(
    paths: Callable[[], list[Path]], tmp_path: Path
) -> None:
    found = sweep(paths(), PAIRS, tmp_path)
    assert set(found) == {"conflict", "merged as by git", "merged where git has conflicts"}, found


SMALL = [
    DATA / "games" / f"{name}.toml" for name in ("dobutsu", "gardner", "gorogoro", "jesonmor", "losalamos", "micro")
]


def check_whole(path: Path, number: int) -> str:
    """Merge the documents of a random pair: what comes of it is what the merged text generates."""
    text = text_of(path)
    ours, theirs = pair(text, number)
    try:
        sides = [generate(read_definition(each)) for each in (text, written(text, ours), written(text, theirs))]
    except DocumentError:
        return "no game"
    found = merge(*sides)
    if found.document is None:
        return "conflict"
    assert found.document == generate(read_definition(str(found.document.envelope.definition)))
    assert load(str(found.document.envelope.definition)) == applied(load(text), *ours, *theirs)
    return "noted" if found.note else "merged"


@pytest.mark.parametrize("count", [pytest.param(4, id="few"), pytest.param(600, id="many", marks=pytest.mark.long)])
def test_what_is_merged_is_what_the_merged_text_generates(count: int) -> None:
    found = [check_whole(SMALL[number % len(SMALL)], number) for number in range(count)]
    assert found.count("merged") + found.count("noted") > count / 4, found
    print({became: found.count(became) for became in found})


@pytest.mark.parametrize("text", ["x = " + "[" * 300 + "]" * 300, "x = " + "{a = " * 150 + "1" + "}" * 150])
def test_deep_texts_are_merged_or_left_alone(text: str) -> None:
    found = merge_texts(DEFINITIONS, (text, f"{text}\ny = 1", f"z = 1\n{text}"))
    assert found is None or found.text == f"z = 1\n{text}\ny = 1"


def test_comments_of_what_both_add_at_one_place_are_kept() -> None:
    base = '[pieces.K]\nbetza = "K"\n'
    ours, theirs = (f'{base}\n# added\n# by {who}\n[pieces.{who}]\nbetza = "W"  # steps\n' for who in ("A", "B"))
    found = merge_texts(DEFINITIONS, (base, ours, theirs))
    assert found is not None
    assert found.text == theirs + ours.removeprefix(base)


def test_changes_of_lines_beside_each_other_keep_their_comments() -> None:
    base = "# one\na = 1\nb = 2\nc = 3\n"
    ours, theirs = "# 1\na = 10  # ten\nb = 2\nc = 3\n", "# one\na = 1\nb = 20  # twenty\n"
    found = merge_texts(DEFINITIONS, (base, ours, theirs))
    assert found is not None
    assert found.text == "# 1\na = 10  # ten\nb = 20  # twenty\n"


def test_sides_that_begin_alike_and_go_on_differently_are_marked() -> None:
    marked = lines.marked(("x\ny\n", "a\nc\n", "a\nb\n"), ("base: b", "ours: o", "theirs: t"), 7)
    assert marked == "<<<<<<< ours: o\na\nc\n||||||| base: b\nx\ny\n=======\na\nb\n>>>>>>> theirs: t\n"


def test_layout_and_order_of_descriptions_are_kept() -> None:
    base = '\ufeff{ "a": 1,\n  "b": {"x": [1, 2],   "y": 1.0}, "c": [{"name": "one"}] }\n'
    ours = (
        base.replace('"a": 1', '"a": true')
        .replace("[1, 2]", "[1,  3]")
        .replace('{"name": "one"}', '{"name": "one"}, {"name": "two"}')
    )
    theirs = base.replace("1.0", "2.0").replace('"one"', '"one", "z": 1')
    found = merge_texts(DESCRIPTIONS, (base, ours, theirs))
    assert found is not None
    assert found.text == (
        '{ "a": true,\n  "b": {"x": [1,  3],   "y": 2.0}, "c": [{"name": "one", "z": 1}, {"name": "two"}] }\n'
    )


@pytest.mark.long
@pytest.mark.skipif(shutil.which("git") is None, reason="git is what merges are compared with")
@pytest.mark.parametrize("paths", [definitions, descriptions])
def test_thousands_of_random_pairs_of_edits(paths: Callable[[], list[Path]], tmp_path: Path) -> None:
    print(sweep(paths(), max(PAIRS, 2_000), tmp_path))
