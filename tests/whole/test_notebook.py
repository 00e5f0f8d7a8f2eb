"""The notebook of the guides runs, and shows what comes of it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ggn_store import guides
from ggn_store.games import library
from ggn_store.store.schema.views import VIEWS
from tests.support import notebooks

FEW = ("gardner", "losalamos", "dobutsu", "micro", "clobber", "connect-four", "fox-and-hounds")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    with contextlib.chdir(tmp_path):
        yield tmp_path


def shown(notebook: notebooks.Json, kind: str) -> list[Any]:
    """What the cells of a notebook print, or come to, or draw (`text/plain`, `image/png`), one after the other."""
    outputs = [each for cell in notebook["cells"] for each in cell.get("outputs", ())]
    if kind == "text":
        return ["".join(each["text"]) for each in outputs if each["output_type"] == "stream"]
    return [each["data"][kind] for each in outputs if kind in each.get("data", ())]


def test_the_notebook_runs_with_a_few_games(place: Path) -> None:
    made = notebooks.run(guides.NOTEBOOK, f"GAMES = {list(FEW)}")
    said, tables, pictures = (shown(made, kind) for kind in ("text", "text/plain", "image/png"))
    assert re.match(r"7 games, 5\d pieces, [\d,]+ possibilities\n", said[0])
    assert len(said) == 2
    assert len(pictures) == 4
    assert "losalamos" in "".join(tables[-1])
    # It shows as much as the one that ships, with all games: `python -m tests.support.notebooks` writes that.
    shipped = notebooks.read(guides.NOTEBOOK)
    for kind in ("text", "text/plain", "text/html", "image/png"):
        assert len(shown(shipped, kind)) == len(shown(made, kind))
    games = [library.index()[name] for name in (*library.names(), *library.descriptions())]
    pieces, possibilities = sum(game.pieces for game in games), sum(game.possibilities for game in games)
    assert shown(shipped, "text")[0] == f"{len(games)} games, {pieces} pieces, {possibilities:,} possibilities\n"


def test_the_notebook_speaks_of_views_that_are_there() -> None:
    names = {each.name for each in VIEWS}
    text = "".join(notebooks.cells(guides.NOTEBOOK, "code") + notebooks.cells(guides.NOTEBOOK, "markdown"))
    assert {*re.findall(r"\bv_\w+", text)} <= names


@pytest.mark.long
def test_the_notebook_shows_what_comes_of_all_games(place: Path) -> None:
    made, shipped = notebooks.run(guides.NOTEBOOK), notebooks.read(guides.NOTEBOOK)
    for kind in ("text", "text/plain"):
        assert shown(made, kind) == shown(shipped, kind)
