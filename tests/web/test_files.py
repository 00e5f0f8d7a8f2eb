"""`ggn-store site`: pages as files whose links lead to one another, and which need nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ggn_store import Store
from ggn_store.web import files
from ggn_store.web.pages import piece as of_pieces
from ggn_store.web.pages import rules as of_rules
from ggn_store.web.site import Site
from tests.support.people import KNIGHT, ROOK, WIDER, moving
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


def test_a_piece_has_its_moves_from_each_square(small: str, run: Program, tmp_path: Path) -> None:
    assert run("--db", small, "site", "-o", tmp_path / "pages").code == 0
    pages = [path.read_text(encoding="utf-8") for path in (tmp_path / "pages").glob("piece-team_mini-C_P-*.html")]
    [page] = [page for page in pages if 'class="from"' in page]
    found = dict(re.findall(r'id="(from-[0-9]+)" class="from">(.*?)</g>', page, re.DOTALL))
    with Store.open(small) as store:
        ruleset = store.ruleset("team/mini")
        squares, selected = ruleset.board.numbers, ruleset.select("C:P")
        assert {f"from-{squares[each]}" for each in selected.sources if each != "*"} == set(found)
        for name, group in found.items():
            source = next(each for each, number in squares.items() if name == f"from-{number}")
            marks = [each for each in MINI["C:P"][source] if each != "*"]
            assert group.count('href="#mark-') == len(marks), source
    assert set(re.findall(r'href="#(mark-[0-9]+)"', page)) <= Found(page).ids
    with_hand = [page for page in pages if 'class="from"' not in page and "from the hand" in page]
    assert len(with_hand) == 1, "the hand has a page of its own"


def test_what_is_large_is_left_out_and_the_page_says_so(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_pieces, "_MOST", 0)
    monkeypatch.setattr(of_rules, "_MOST_IN_FILES", 1)
    with Store.open(small) as store:
        files.write(Site(store), tmp_path / "pages")
    pages = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "pages").glob("*.html")}
    assert not any('class="from"' in page for page in pages.values())
    assert any("too many for a file" in page for name, page in pages.items() if name.startswith("piece-"))
    [dead] = [page for name, page in pages.items() if name.startswith("rules-team_mini-dead")]
    assert "<code>ggn-store dead team/mini</code>" in dead
    assert links_of_files(tmp_path / "pages") > len(pages)


def test_changes_blame_analyses_and_proposals_have_pages(small: str, run: Program, tmp_path: Path) -> None:
    with Store.open(small) as store:
        first = store.load(KNIGHT, "knight", author="Ann")
        store.load(WIDER, "knight", author="Ben")
        proposal = str(store.reviews.propose(KNIGHT, "knight", author="Cas", message="back again"))
        store.reviews.comment(proposal, "why?", author="Ann")
    pages = tmp_path / "pages"
    assert run("--db", small, "site", "-o", pages).code == 0
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages.glob("*.html")}

    def led_to(name: str, start: str) -> list[str]:
        """The pages of a kind that a page leads to."""
        return sorted({each.partition("#")[0] for each in Found(texts[name]).links if each.startswith(start)})

    [game] = led_to("index.html", "game-knight")
    [log] = led_to(game, "log-knight")
    [changes] = led_to(game, "diff-knight-")
    of_revisions = led_to(log, "diff-knight")
    assert (len(of_revisions), changes in of_revisions) == (2, True)
    for name in (changes, *of_revisions):
        assert any(words in texts[name] for words in ("+     a3 must a3=empty", "+ C:N: 1 source")), name
    [blame] = led_to(game, "blame-knight")
    assert {"Ann", "Ben"} <= set(re.findall("Ann|Ben", texts[blame]))
    assert led_to("index.html", "game-team_mini")
    assert not led_to(led_to("index.html", "game-team_mini")[0], "blame-"), "one revision has given all"
    [rules] = led_to(game, "rules-knight")
    assert len(led_to(rules, "rules-knight")) == 7
    [proposals] = led_to("index.html", "proposals-")
    [page] = led_to(proposals, "proposal-knight_1")
    [board] = led_to(page, "game-knight_1-")
    assert "knight#1" in texts[board]
    assert [each for each in ("back again", "why?", "-     a3 must a3=empty") if each not in texts[page]] == []
    assert str(first) in texts[log]
    assert links_of_files(pages) > len(texts)


def test_a_piece_has_one_page_for_all_revisions_that_follow_one_another_with_it(
    small: str, run: Program, tmp_path: Path
) -> None:
    with Store.open(small) as store:
        for document in (KNIGHT | ROOK, WIDER | ROOK, WIDER | ROOK | moving("C:B", "c1", "a3"), KNIGHT | ROOK):
            store.load(document, "game", author="Ann")
        proposal = store.reviews.propose(KNIGHT | moving("C:R", "a1", "b1"), "game", author="Ann")
        store.reviews.withdraw(str(store.reviews.propose(ROOK, "game", author="Ann")), author="Ann")
    pages = tmp_path / "pages"
    assert run("--db", small, "site", "-o", pages).code == 0
    texts = {path.name: path.read_text(encoding="utf-8") for path in pages.glob("*.html")}

    def shown(kind: str) -> dict[str, set[str]]:
        """Of each revision of a game, the pages of a kind that its board leads to, by what these are of."""
        found: dict[str, set[str]] = {}
        for name, text in texts.items():
            if name.startswith("game-game") and "from" not in name:
                links = {each.partition("#")[0] for each in Found(text).links if each.startswith(kind)}
                [of] = set(re.findall(r'<p class="facts"><code>(.*?)</code>', text))
                found[of] = {
                    re.findall(r'<p class="facts"><code>(.*?)</code>', texts[each])[0] + each for each in links
                }
        return found

    of_pieces = {
        of: {name.partition("piece-")[0] + re.findall("C_[BNR]", name)[0] for name in names}
        for of, names in shown("piece-").items()
    }
    assert of_pieces == {
        "game@1": {"game@1C_N", "game@4C_R"},
        "game@2": {"game@3C_N", "game@4C_R"},
        "game@3": {"game@3C_N", "game@4C_R", "game@3C_B"},
        "game@4": {"game@4C_N", "game@4C_R"},
        str(proposal): {"game@4C_N", f"{proposal}C_R"},
    }
    assert links_of_files(pages) > len(texts)
    assert not any(name.startswith("game-game_4") for name in texts), "that of the newest revision has its name alone"
    assert all("<code>ggn-store serve</code>" in text for text in texts.values())


def test_the_search_knows_names_of_pieces(small: str, run: Program, tmp_path: Path) -> None:
    write(
        tmp_path / "towers.toml",
        'title = "Towers"\nboard = "3x3"\nstyle = "C"\n[pieces.R]\nname = "wazir"\nbetza = "W"\n',
    )
    with Store.open(small) as store:
        store.load(tmp_path / "towers.toml")
    assert run("--db", small, "site", "-o", tmp_path / "pages").code == 0
    script = (tmp_path / "pages" / "search.js").read_text(encoding="utf-8")
    games = json.loads(script.partition("const GAMES = ")[2].partition(";\n")[0])
    assert [each["title"] for each in games if "wazir" in each["words"]] == ["Towers"]
    assert all((tmp_path / "pages" / each["page"]).exists() for each in games)


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
