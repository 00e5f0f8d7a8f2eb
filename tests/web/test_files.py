"""`ggn-store site`: pages as files whose links lead to one another, and which need nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ggn_store import Store
from tests.support.program import MINI, MINI_TOML, MUST, Program, run, write
from tests.support.web import Found, links_of_files

__all__ = ["run"]


@pytest.fixture
def small(address: str, tmp_path: Path) -> str:
    """The address of a store with two games, one of them without a start."""
    write(tmp_path / "mini.toml", MINI_TOML)
    with Store.open(address) as store:
        store.load(write(tmp_path / "mini.json", MINI), "team/mini", message="</title><script>alert(1)</script>")
        store.load(MUST, "must.json")
    return address


def test_every_link_of_every_file_leads_to_a_file(small: str, run: Program, tmp_path: Path) -> None:
    result = run("--db", small, "site", "-o", tmp_path / "pages")
    files = {path.name: path for path in (tmp_path / "pages").iterdir()}
    assert (result.code, result.out) == (0, "")
    assert result.err == f"{tmp_path / 'pages'}: {len(files)} files, index.html shows all games\n"
    assert links_of_files(tmp_path / "pages") > len(files)


def test_a_link_to_nowhere_and_a_file_without_a_link_are_found(small: str, run: Program, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    assert run("--db", small, "site", "-o", pages).code == 0
    write(pages / "alone.html", "<p>")
    with pytest.raises(AssertionError, match=r"alone\.html"):
        links_of_files(pages)
    (pages / "alone.html").unlink()
    [piece, *_] = sorted(pages.glob("piece-*.html"))
    piece.unlink()
    with pytest.raises(AssertionError, match="piece-"):
        links_of_files(pages)


def test_a_click_on_a_piece_shows_its_marks(small: str, run: Program, tmp_path: Path) -> None:
    assert run("--db", small, "site", "-o", tmp_path / "pages").code == 0
    pages = tmp_path / "pages"
    index = Found((pages / "index.html").read_text(encoding="utf-8"))
    [game] = [link for link in index.links if link.startswith("game-team_mini")]
    start = Found((pages / game).read_text(encoding="utf-8"))
    touched = (pages / start.squares["a2"].removesuffix("#board")).read_text(encoding="utf-8")
    assert 'class="mark" data-square="a3"' in touched
    assert "<form" not in touched
    assert "FEEN" in touched


def test_older_revisions_have_pages_and_what_leads_nowhere_is_text(small: str, run: Program, tmp_path: Path) -> None:
    with Store.open(small) as store:
        store.load(MUST, "team/mini")
    pages = tmp_path / "pages"
    assert run("--db", small, "site", "-o", pages).code == 0
    [older] = pages.glob("game-team_mini_1-*.html")
    [log] = pages.glob("log-team_mini-*.html")
    assert older.name in Found(log.read_text(encoding="utf-8")).links
    assert "C:P" in older.read_text(encoding="utf-8")
    for page in pages.glob("*.html"):
        assert not re.search(r"<a\b(?![^>]*href=)", page.read_text(encoding="utf-8")), page


def test_an_empty_store_and_a_directory_that_is_taken_are_told(run: Program, small: str, tmp_path: Path) -> None:
    with Store.open(tmp_path / "empty.db"):
        pass
    result = run("--db", tmp_path / "empty.db", "site", "-o", tmp_path / "pages")
    assert (result.code, (tmp_path / "pages").exists()) == (1, False)
    assert "the store is empty" in result.err
    (tmp_path / "pages").mkdir()
    write(tmp_path / "pages" / "mine.txt", "mine")
    result = run("--db", small, "site", "-o", tmp_path / "pages")
    assert result.code == 1
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["mine.txt"]
