"""Every document that ships is canonical, and something beside it says what it is."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import ggn_store
from ggn_store.model.teams.revision import check_name

DATA = Path(__file__).parents[2] / "data"


def first_difference(text: str, canonical: str) -> int | None:
    """The number of the first line, from 1, that is not as the canonical form has it; None where all are."""
    pairs = itertools.zip_longest(text.splitlines(keepends=True), canonical.splitlines(keepends=True))
    return next((number for number, (found, expected) in enumerate(pairs, 1) if found != expected), None)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb\n", None), ("a\nb", 2), ("a\r\nb\n", 1), ("a\nc\n", 2), ("a\n", 2), ("a\nb\nc\n", 3), ("", 1)],
)
def test_the_first_line_that_differs_is_named(text: str, line: int | None) -> None:
    assert first_difference(text, "a\nb\n") == line


DOCUMENTS = sorted(path for path in DATA.rglob("*.json") if path.parent.name not in ("games", "gdl"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(DATA).as_posix())
def test_every_document_that_ships_is_canonical(path: Path) -> None:
    name = path.relative_to(DATA)
    text = path.read_bytes().decode("utf-8")
    line = first_difference(text, ggn_store.parse(text).canonical())
    assert line is None, f"data/{name}:{line}: not as the canonical form has it"
    assert check_name(name.with_suffix("").as_posix())
    assert path.with_suffix(".toml").is_file(), f"data/{name}: nothing says what it is; write {name.stem}.toml"
