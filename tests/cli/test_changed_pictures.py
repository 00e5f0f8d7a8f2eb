"""Pictures of what a change does to the moves of pieces: `proposal --pictures`, `diff --pictures`."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from ggn_store import Store
from tests.support.program import Command, write

BASE = """\
title = "Corners"
board = "5x5"
style = "C"
start = "2k^2/5/5/5/2K^2 / C/c"

[pieces.K]
betza = "KN"
terminal = true

[pieces.R]
betza = "R"
"""
OTHER = BASE.replace('"KN"', '"KA"')


@pytest.fixture
def proposed(ggn: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("GGN_AUTHOR", "Ann")
    assert ggn("load", write("base.toml", BASE), "--name", "team/mini").code == 0
    assert ggn("propose", "team/mini", write("other.toml", OTHER)).code == 0
    return ggn


def changes(path: Path) -> list[str]:
    """What frames of a picture say, without those of its legend."""
    found = [each.get("data-change") for each in ElementTree.parse(path).iter() if each.get("data-change")]
    return sorted(str(each) for each in found)


def test_a_proposal_is_drawn_before_and_after_with_what_is_gained_and_lost(proposed: Command) -> None:
    done = proposed("proposal", "team/mini#1", "--pictures", "pictures")
    assert (done.code, done.err) == (0, "pictures: 2 pictures, index.html shows all\n")
    names = sorted(path.name for path in Path("pictures").iterdir())
    assert names == ["001-C_K_from_c3.svg", "002-c_k_from_c3.svg", "index.html"]
    first = Path("pictures", names[0])
    assert changes(first) == ["added"] * 5 + ["removed"] * 9  # four and eight squares, and the legend
    assert "C:K^ from c3: team/mini@1 to team/mini#1" in first.read_text(encoding="utf-8")
    assert "24 other sources change, too" in first.read_text(encoding="utf-8")
    assert all(name in Path("pictures/index.html").read_text(encoding="utf-8") for name in names[:2])
    again = proposed("diff", "team/mini", "other.toml", "--pictures", "others")
    assert (again.code, changes(Path("others", names[0]))) == (0, changes(first))


def test_a_piece_is_drawn_from_the_middle_of_where_it_changed(proposed: Command) -> None:
    write("fourth.toml", BASE.replace('"R"', '"RfA"'))
    assert proposed("diff", "team/mini", "fourth.toml", "--pictures", "pictures").code == 0
    names = sorted(path.name for path in Path("pictures").iterdir())
    assert names == ["001-C_R_from_c2.svg", "002-c_r_from_c4.svg", "index.html"]


def test_pictures_are_written_whole_or_not_at_all(proposed: Command) -> None:
    write("pictures/mine.txt", "mine")
    refused = proposed("proposal", "team/mini#1", "--pictures", "pictures")
    assert (refused.code, refused.out, "name a new directory" in refused.err) == (1, "", True)
    assert [path.name for path in Path("pictures").iterdir()] == ["mine.txt"]
    missing = proposed("proposal", "team/mini#7", "--pictures", "others")
    assert (missing.code, Path("others").exists()) == (1, False)


def test_a_piece_that_comes_or_goes_is_drawn_on_one_board_only(store: Store, tmp_path: Path) -> None:
    def moving(*pieces: str) -> dict[str, object]:
        return {each: {"a1": {"a2": [{"diff": {"board": {"a1": None, "a2": each}}}]}} for each in pieces}

    store.load(moving("C:R"), "tiny", author="Ann")
    store.load(moving("C:Q"), "tiny", author="Ann")
    assert store.history.draw(tmp_path / "changed", "tiny") == 2
    assert store.history.draw(tmp_path / "first", "tiny@1") == 1
    assert store.history.draw(tmp_path / "same", "tiny", "tiny@2") == 0
    assert [path.name for path in (tmp_path / "same").iterdir()] == ["index.html"]
