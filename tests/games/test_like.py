"""A definition that is like another one is read as if it said all of it, and what is stored says all of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ggn_store import Document, Store, generate, limits
from ggn_store.games import library
from ggn_store.games.definition import Definition, DefinitionError, read
from ggn_store.notation import toml
from tests.support.definitions import shipped_game

BASE = """\
title = "Base"
source = "by hand"
notes = "of the base"
tier = "A"
board = "4x4"
style = "C"
start = "k3/4/4/K3 / C/c"

[play]
duties = ["royal-safety"]
outcome = [{ when = "no-move", verdict = "loss" }]

[zones]
last = "a4:d4"

[pieces.K]
name = "king"
betza = "K"

[pieces.R]
name = "rook"
betza = "R"

[pieces.P]
betza = "fW"
promotion = { zone = "last", to = ["R"], forced = true }
"""
HEAD = 'like = "base.toml"\ntitle = "Mine"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE)
    return tmp_path


def problem(text: str, folder: Path | None) -> str:
    with pytest.raises(DefinitionError) as caught:
        read(text, "mine.toml", folder)
    [found] = caught.value.problems
    return str(found)


def plain(definition: Definition) -> Definition:
    return replace(definition, text=None)


# Each: what a definition says beside its head, and what the same is with all of it: what is replaced in BASE, by what.
SAME: list[tuple[str, list[tuple[str, str]]]] = [
    ("", []),
    ('[pieces.K]\nbetza = "W"\n', [('betza = "K"', 'betza = "W"')]),
    ('[pieces]\nK = { betza = "W" }\n', [('betza = "K"', 'betza = "W"')]),
    ('[pieces]\nP.promotion.to = ["K", "..."]\n', [('["R"]', '["K", "R"]')]),
    ('without = ["pieces.P.promotion"]\n', [('promotion = { zone = "last", to = ["R"], forced = true }\n', "")]),
    ('without = ["zones", "pieces.P.promotion"]\n', [("promotion", "#"), ("[zones]\nlast", "#")]),
    ('without = ["pieces.P"]\n[pieces.P]\nbetza = "W"\n', [("fW", "W"), ("promotion", "#")]),
    (
        '[play]\noutcome = ["...", { when = "repetition", verdict = "draw", count = 3 }]\n',
        [('"loss" }', '"loss" }, { when = "repetition", verdict = "draw", count = 3 }')],
    ),
    (
        "[play]\nduties = []\noutcome = []\n",
        [('["royal-safety"]', "[]"), ('[{ when = "no-move", verdict = "loss" }]', "[]")],
    ),
    ("[hands]\ncaptures = true\n", [("[zones]", "[hands]\ncaptures = true\n[zones]")]),
    # What is new is last, or after what it is written after; what is written in another order is moved.
    ('[pieces.N]\nbetza = "N"\n', [("true }\n", 'true }\n[pieces.N]\nbetza = "N"\n')]),
    ('[pieces]\nK = {}\nN = { betza = "N" }\n', [("[pieces.R]", '[pieces.N]\nbetza = "N"\n[pieces.R]')]),
    (
        "[pieces]\nR = {}\nK = {}\n",
        [
            ('[pieces.K]\nname = "king"\nbetza = "K"\n', ""),
            ("[pieces.P]", '[pieces.K]\nname = "king"\nbetza = "K"\n[pieces.P]'),
        ],
    ),
    ('[first.N]\nbetza = "N"\n', [("true }\n", 'true }\n[first.N]\nbetza = "N"\n')]),
]


@pytest.mark.parametrize(("own", "changes"), SAME)
def test_it_is_the_game_that_says_all_of_it(own: str, changes: list[tuple[str, str]], folder: Path) -> None:
    whole = BASE.replace('"Base"', '"Mine"')
    for line in ('source = "by hand"\n', 'notes = "of the base"\n', 'tier = "A"\n'):  # which each game says itself
        whole = whole.replace(line, "")
    for old, new in changes:
        assert old in whole
        whole = whole.replace(old, new)
    made = read(HEAD + own, "mine.toml", folder)
    assert plain(made) == plain(read(whole))
    assert made.text is not None
    assert "like" not in toml.load(made.text)
    assert plain(read(made.text)) == plain(made)


def test_a_game_may_be_like_one_of_the_library_and_that_like_another_one(folder: Path) -> None:
    (folder / "three.toml").write_text('like = "chess"\ntitle = "Three"\n[pieces]\nN = { betza = "NA" }\n')
    made = read('like = "three.toml"\ntitle = "Mine"\n[pieces.B]\nbetza = "BW"\n', "mine.toml", folder)
    chess = library.read_game("chess")
    assert [each.name for each in made.pieces] == [each.name for each in chess.pieces]
    assert [each.moves.betza for each in made.pieces if each.token in "BN"] == ["BW", "NA"]
    assert (made.source, made.tier, made.said) == (None, None, chess.said)


# Each: a definition, and what is said of it.
WRONG = [
    ('like = "ches"\n', 'mine.toml:1:1 like: the library has no such game: did you mean chess?; found "ches"'),
    ("like = 5\n", "mine.toml:1:1 like: like names another game; found 5; allowed: a game of the library, or a file "),
    ('like = "bas.toml"\n', "there is no such file beside this one: did you mean base.toml?"),
    ('like = "../base.toml"\n', 'no file beside this one; found "../base.toml"; allowed: the name of a file in'),
    ('like = "/etc/passwd.toml"\n', "no file beside this one"),
    ('like = "a.toml"\n', 'like: like goes in a circle; found "a.toml -> b.toml -> a.toml"'),
    ('like = "broken.toml"\n', "what this is like cannot be read: 1:8: the definition is not TOML: "),
    (HEAD + 'without = "pieces.K"\n', 'mine.toml:3:1 without: without is a list of keys; found "pieces.K"'),
    (
        HEAD + 'without = ["pieces.Rk"]\n',
        'mine.toml:3:1 without[0]: base.toml has no such key: did you mean R?; found "Rk"; allowed: K, R',
    ),
    (HEAD + 'without = ["board.x"]\n', 'without[0]: base.toml has no such key; found "x"'),
    (HEAD + 'without = ["pieces."]\n', 'without[0]: not the name of a key; found "pieces."'),
    (HEAD + 'host = ["..."]\n', 'mine.toml:3:1 host: "..." stands once for the list that base.toml has here'),
    (HEAD + '[play]\nduties = ["...", "..."]\n', 'mine.toml:4:1 play.duties: "..." stands once'),
    ('like = "base.toml"\n', "title: a definition has a title"),
    (HEAD + 'board = "4x5"\n', "mine.toml:1:1 start: the start position is on another board (line 7 of base.toml, "),
    (
        HEAD + 'without = ["pieces.R"]\n',
        "mine.toml:1:1 pieces.P.promotion.to[0]: the first side has no such piece (line 26 ",
    ),
    (HEAD + "[pieces.P]\nfen = 'p'\n", "mine.toml:4:1 pieces.P.fen: not a piece of the first side in FEN; found"),
    (
        'title = "Mine"\nwithout = []\nboard = "4x4"\nstyle = "C"\n[pieces.K]\nbetza = "K"\n',
        "a definition has no such key",
    ),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_place(text: str, message: str, folder: Path) -> None:
    (folder / "a.toml").write_text('like = "b.toml"\n')
    (folder / "b.toml").write_text('like = "a.toml"\n')
    (folder / "broken.toml").write_text("title =")
    assert message in problem(text, folder)


def test_what_is_wrong_in_another_file_is_told_with_its_name(folder: Path) -> None:
    (folder / "between.toml").write_text('like = "base.toml"\nwithout = ["pieces.Q"]\n')
    told = problem('like = "between.toml"\ntitle = "Mine"\n', folder)
    assert told == (
        'mine.toml:1:1 like: between.toml says in without[0]: base.toml has no such key; found "Q"; allowed: K, R, P'
    )


def test_a_text_without_a_file_has_none_beside_it() -> None:
    assert "no file beside this one" in problem(HEAD, None)


def test_the_games_one_after_the_other_are_limited(folder: Path) -> None:
    most = limits.LIKES.most
    for number in range(most):
        (folder / f"{number}.toml").write_text(f'like = "{number + 1}.toml"\ntitle = "Game"\n')
    (folder / f"{most}.toml").write_text(BASE)
    assert read('like = "1.toml"\ntitle = "Mine"\n', None, folder).title == "Mine"
    assert "goes through too many games" in problem('like = "0.toml"\ntitle = "Mine"\n', folder)


def test_what_becomes_too_long_is_refused(folder: Path) -> None:
    assert "with all that it is like the definition is too long" in _short(folder)


def _short(folder: Path) -> str:
    with limits.allow({"definition-bytes": len(BASE)}):
        return problem(HEAD + f'notes = "{200 * "x"}"\n', folder)


def test_what_is_stored_says_all_of_it(store: Store, folder: Path) -> None:
    (folder / "mine.toml").write_text(HEAD + '[pieces]\nK = { betza = "W" }\n')
    revision = store.load(folder / "mine.toml")
    made = read((folder / "mine.toml").read_text(), None, folder)
    stored = store.ruleset("mine")
    assert stored.export_definition() == made.text
    assert 'betza = "R"' in stored.export_definition()
    assert store.load(folder / "mine.toml") == replace(revision, status="unchanged")
    assert store.load(read(str(made.text)), "mine").number == revision.number


def test_a_definition_beside_a_document_is_stored_whole(store: Store) -> None:
    own = 'like = "chess"\ntitle = "Mine"\n'
    document = generate(read(own))
    beside = Document(document.dialect, document.pieces, replace(document.envelope, definition=own))
    store.load(beside, "mine")
    assert store.ruleset("mine").export_definition() == document.envelope.definition


def test_the_text_of_a_library_game_is_the_whole_of_it() -> None:
    for name in library.names():
        game = shipped_game(name)
        assert game.text is not None
        if "like" in toml.load(library.path_of(name).read_text("utf-8")):
            assert "like" not in toml.load(game.text)
            assert plain(read(game.text)) == plain(game)
