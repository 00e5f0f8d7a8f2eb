"""The library and definitions on the command line: `generate`, `load --library`, `list --library`, `show`."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ggn_store import GgnStoreError, Store, UnknownNameError, find_game, generate, read_definition
from ggn_store.api.loading.games import library_files, library_games, library_names
from ggn_store.games import library
from ggn_store.games.library import LibraryGame
from ggn_store.notation import toml
from tests.support import library_index
from tests.support.definitions import shipped_game
from tests.support.guards import drop_guards_of_file
from tests.support.program import QUICK, Command, Program, child_environment, complete, names, on_terminal, write

ROOK = """
title = "Rooks alone"
board = "3x3"
style = "C"
tier = "A"
host = ["pass"]
start = "2r/3/R2 / C/c"

[pieces.R]
betza = "R"
"""
KING = ROOK + '\n[pieces.K]\nbetza = "K"\nterminal = true\n'
WRONG = ROOK.replace('"R"', '"R?"').replace("tier", "teir")


# --- the library ---


def test_every_game_that_is_loaded_first_is_in_the_library() -> None:
    assert set(library.STARTER) <= set(library.names())
    assert [file.name for file in library_files()] == list(library.STARTER)
    assert [file.name for file in library_files(["all"])] == [*library.names(), *library.descriptions()]
    assert [file.name for file in library_files(["large"])] == library.large() == ["large/tai-shogi"]
    assert len(library_files(["examples"])) == 31
    described = [file.name for file in library_files(["gdl", "gdl/chess"])]
    assert described == library.descriptions()
    assert {"gdl/checkers", "gdl/chess", "gdl/contraband", "gdl/hexguard"} <= set(described)
    assert [file.name for file in library_files(["chess", "examples/diff-drop", "chess"])] == [
        "chess",
        "examples/diff-drop",
    ]


@pytest.mark.parametrize("name", ["../chess", "games/chess", "/etc/passwd", "", "chess.toml", "CHESS", "chess\0", "."])
def test_a_name_that_the_library_does_not_have_leads_to_no_file(name: str) -> None:
    with pytest.raises(UnknownNameError, match="the library has no game"):
        library.read_game(name)


def test_an_unknown_game_is_answered_with_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean minishogi\?"):
        library.read_game("minishoji")
    with pytest.raises(UnknownNameError, match=r"it has .* and [0-9]+ more"):
        library.read_game("qqqq")
    with pytest.raises(UnknownNameError, match='the library has no "examples/x"; it has examples/diff-capture'):
        library_files(["examples/x"])


def test_game_descriptions_of_the_library_are_compiled_and_loaded(store: Store) -> None:
    assert [str(each) for each in store.load_library("gdl/checkers", "gdl/contraband")] == [
        "gdl/checkers@1",
        "gdl/contraband@1",
    ]
    # Four of the twelve men can step forward: one from the edge to one square, three to two.
    moves = store.ruleset("gdl/checkers").moves(store.ruleset("gdl/checkers").position())
    assert [move.action for move in moves] == ["man_step"] * 7
    with pytest.raises(UnknownNameError, match='the library has no "gdl/x"; it has gdl/adugo, gdl/alquerque'):
        library_files(["gdl/x"])


def said(name: str) -> dict[str, object]:
    """What the index says of a game that shows without generating it."""
    definition = shipped_game(name)
    board = definition.board.shape_text or f"{len(definition.board.squares)} squares"
    duties = tuple(duty.name for duty in definition.said.duties)
    return {
        "duties": duties,
        "title": definition.title,
        "board": board,
        "tier": definition.tier,
        "host": definition.said.host,
    }


def test_the_index_has_every_game_as_its_definition_names_it() -> None:
    index = library.index()
    stale = "the index is stale: run `python -m tests.support.library_index`"
    assert list(index) == sorted([*library.names(), *library.descriptions(), *library.large()]), stale
    for name in (*library.names(), *library.large()):
        game = index[name]
        wanted = said(name)
        assert {key: getattr(game, key) for key in wanted} == wanted, stale
    assert library_index.PATH.read_text("utf-8") == library_index.text(list(index.values())), stale


def check(game: LibraryGame) -> None:
    described = game.name in library.descriptions()
    found = (
        library_index.survey_description(game.name)
        if described
        else library_index.survey(game.name, library.read_game(game.name))
    )
    known = replace(found, families=game.families, also=game.also)
    assert known == game, "run `python -m tests.support.library_index`"


@pytest.mark.parametrize("name", [*library.STARTER, "gdl/checkers"])
def test_the_index_says_what_is_in_a_game(name: str) -> None:
    check(library.index()[name])


@pytest.mark.long
def test_the_index_says_what_is_in_every_game() -> None:
    for game in library_games():
        check(game)


def test_the_index_counts_and_digests_the_document() -> None:
    document = generate(library.read_game("minixiangqi"))
    game = library.index()["minixiangqi"]
    possibilities = [each for piece in document.pieces for *_, each in piece.entries()]
    assert (game.pieces, game.possibilities) == (len(document.pieces), len(possibilities))
    assert game.conditions == sum(len(each.must) + len(each.deny) for each in possibilities)
    assert game.sha256 == hashlib.sha256(document.canonical().encode()).hexdigest()


def test_a_broken_index_is_a_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(library, "directory", lambda: tmp_path)
    columns = ",".join(library.COLUMNS)
    for text in (None, "{", "name\nchess\n", f"{columns}\nchess\n", f"{columns}\nchess,,,,,many,,,\n"):
        library.index.cache_clear()
        if text is not None:
            (tmp_path / library.INDEX).write_text(text, encoding="utf-8")
        with pytest.raises(GgnStoreError, match=r"the library's index cannot be read .*: install ggn-store again"):
            library.index()
    library.index.cache_clear()


# --- list --library ---


def test_the_library_is_listed_without_a_store(run: Program, tmp_path: Path) -> None:
    listed = run("list", "--library")
    assert names(listed) == [*library.names(), *library.descriptions(), *library.large()]
    assert listed.records() == json.loads(run("list", "--library", "--format", "json").out)
    assert listed.records() == [json.loads(json.dumps(game.data())) for game in library_games()]
    table = run("list", "--library", "--format", "table").out.splitlines()
    assert table[0].split() == ["name", "title", "board", "tier", "possibilities", "families"]
    [chess] = [line for line in table if line.startswith("chess ")]
    assert chess.split()[:6] == ["chess", "Chess", "8x8", "B", "15292", "chess"]
    assert not (tmp_path / "home").exists()


MORRIS = (
    "gdl/five-mens-morris gdl/nine-mens-morris gdl/shisima gdl/six-mens-morris gdl/tsoro-yematatu "
    "gdl/twelve-mens-morris"
)
DRAUGHTS = [
    "gdl/alquerque",
    *("gdl/brazilian-draughts", "gdl/checkers", "gdl/czech-draughts", "gdl/international-draughts"),
    *("gdl/italian-draughts", "gdl/konane", "gdl/pool-checkers", "gdl/russian-draughts", "gdl/spanish-draughts"),
    *("gdl/thai-checkers", "gdl/turkish-draughts"),
]
SOUGHT = [
    ("checkers", " ".join(sorted(("gdl/chinese-checkers", *DRAUGHTS)))),
    ("draughts", " ".join(DRAUGHTS)),
    ("english draughts", "gdl/checkers"),
    ("dou shou qi", "gdl/jungle"),
    ("merels", f"achi {MORRIS} nineholes picaria tapatan tic-tac-toe"),
    ("Polish draughts", "gdl/international-draughts"),
    ("Thai chess", "ai-wok asean cambodian karouk makhouse makpong makruk sittuyin"),
    ("noughts and crosses", "tic-tac-toe"),
    ("isola", "isolation"),
    ("tai shogi", "large/tai-shogi"),
    ("janggi", "janggi"),
    ("Korean chess", "janggi janggicasual janggihouse janggimodern janggitraditional"),
    ("the pawns game", "endgame"),
    ("round chess", "byzantine circular"),
    ("mini xiangqi", "minixiangqi"),
    ("capahouse", "capahouse"),
    ("international-draughts", "gdl/international-draughts"),
    ("international draughts", "gdl/international-draughts"),
    ("nine-mens-morris", "gdl/nine-mens-morris"),
]


@pytest.mark.parametrize(("word", "found"), SOUGHT)
def test_a_game_is_found_by_what_people_call_it(word: str, found: str) -> None:
    assert library_names([word]) == found.split()


def test_a_game_of_a_folder_is_named_without_it_unless_another_game_has_the_name() -> None:
    assert [file.name for file in library_files(["jungle", "gdl/jungle", "chess"])] == ["gdl/jungle", "chess"]
    assert [file.name for file in library_files(["tai-shogi", "large/tai-shogi"])] == ["large/tai-shogi"]


def test_every_game_is_in_a_family_and_every_family_has_games() -> None:
    known = {game.name: game for game in library_games()}
    assert [game.name for game in known.values() if not game.families] == []
    told = toml.load((library.directory().parent / library.FAMILIES).read_text("utf-8"))
    named = [name for family in told["families"].values() for name in family["games"]]
    assert set(named) | set(told["names"]) == set(named) <= set(known)
    assert all(family["games"] == sorted(set(family["games"])) for family in told["families"].values())


def test_families_are_listed_and_a_word_without_games_is_told(run: Program) -> None:
    found = {each["name"]: each for each in run("list", "--library", "draughts", "draughts").records()}
    assert list(found) == DRAUGHTS
    assert (found["gdl/checkers"]["families"], found["gdl/checkers"]["possibilities"]) == (["draughts"], 1020)
    assert names(run("list", "--library", "janggi*", "SHATAR")) == [
        *("janggi", "janggicasual", "janggihouse", "janggimodern", "janggitraditional", "shatar"),
    ]
    for words, said in (
        (("list", "--library", "shogj"), 'no game "shogj": did you mean shogi?'),
        (("load", "--library", "draughts"), 'no game "draughts"; by this word there is gdl/alquerque'),
    ):
        told = run(*words)
        assert (told.code, told.out) == (1, "")
        assert said in told.err


# --- generate ---


def test_a_game_of_the_library_is_written(run: Program) -> None:
    written = run("generate", "chess")
    assert (written.code, written.err) == (0, "")
    assert written.out == (library.directory().parent / "chess.json").read_text("utf-8")
    assert run("generate", "chess", "-o", "chess.json", "--dialect", "diff").code == 0
    assert Path("chess.json").read_text("utf-8") == written.out


def test_a_definition_of_one_s_own_is_written_from_a_file_or_standard_input(run: Program) -> None:
    write("rook.toml", ROOK)
    written = run("generate", "rook.toml")
    assert (written.code, written.err) == (0, "")
    assert list(json.loads(written.out)) == ["C:R", "c:r"]
    for other in ("./rook.toml", Path("rook.toml").absolute(), "-"):
        assert run("generate", other, stdin=ROOK) == written
    write("rook", ROOK)
    assert run("generate", "rook") == written


def test_a_game_is_written_in_another_dialect_where_nothing_is_lost(run: Program) -> None:
    write("rook.toml", ROOK)
    written = run("generate", "rook.toml", "--dialect", "perform")
    write("rook.json", run("generate", "rook.toml").out)
    assert written.out == run("convert", "rook.json", "--to", "perform").out
    write("king.toml", KING)
    refused = run("generate", "king.toml", "--dialect", "perform", "-o", "king.json")
    assert (refused.code, refused.out) == (1, "")
    assert "would lose 2 things:" in refused.err
    assert '/C:K^: the piece "C:K^", because perform has no markers' in refused.err
    assert not Path("king.json").exists()
    refused = run("generate", "chess", "--dialect", "must-deny")
    assert (refused.code, refused.out) == (1, "")
    assert "would lose 15,292 things:" in refused.err
    assert "and 15,287 more" in refused.err


@pytest.mark.parametrize(
    ("game", "told"),
    [
        ("ches", 'the library has no game "ches": did you mean chess?'),
        ("away.toml", "away.toml: there is no such file"),
        ("./away", "./away: there is no such file"),
        ("still.toml", "Still: no piece of this game can ever move"),
        ("empty.toml", "a definition has a title"),
        ("folder.toml", "folder.toml: cannot be read: Is a directory"),
    ],
)
def test_a_game_that_cannot_be_written_is_a_clear_error(run: Program, game: str, told: str) -> None:
    write("still.toml", 'title = "Still"\nboard = "2x2"\nstyle = "C"\n[pieces.K]\nbetza = ""')
    write("empty.toml", "")
    Path("folder.toml").mkdir()
    result = run("generate", game)
    assert result.code == 1
    assert told in result.err


@pytest.mark.parametrize("command", [("generate",), ("load",), ("validate",), ("lint",)])
def test_what_is_wrong_with_a_definition_is_told_with_its_places(run: Program, command: tuple[str, ...]) -> None:
    write("wrong.toml", WRONG)
    result = run("--db", "new.db", *command, "wrong.toml")
    assert result.code == 1
    told = [line.strip() for line in (result.out + result.err).removeprefix("Error: ").splitlines()]
    [number] = [number for number, line in enumerate(told) if line.startswith("wrong.toml:10:1 pieces.R.betza: ")]
    assert told[number + 1 : number + 3] == ["R?", "^"]
    assert any(line.startswith("wrong.toml:5:1 teir: a definition has no such key") for line in told)


def test_a_reader_that_has_seen_enough_of_a_game_is_no_error() -> None:
    command = [sys.executable, "-m", "ggn_store", "generate", "chess"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=child_environment()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"{\n"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode in (0, 1)


def test_validate_lint_and_convert_take_definitions_too(run: Program) -> None:
    write("rook.toml", ROOK)
    assert run("validate", "rook.toml").err == "1 document checked: all valid\n"
    assert run("lint", "rook.toml").code == 0
    assert run("convert", "rook.toml", "--to", "diff").out == run("generate", "rook.toml").out
    assert run("validate", "rook.toml", "--dialect", "perform").code == 1


# --- load ---


def test_games_are_loaded_beside_documents(ggn: Command) -> None:
    write("rook.toml", ROOK)
    write("quick.json", QUICK)
    assert ggn("load", "rook.toml", "quick.json").out.startswith("2 documents: 2 new; ")
    assert names(ggn("list")) == ["quick", "rook"]
    assert ggn("load", "rook.toml").out == "rook@1: unchanged, nothing to store\n"
    assert ggn("load", "rook.toml", "--name", "castle", "--message", "renamed").out.startswith("castle@1: loaded, 144 ")
    assert ggn("db", "check").code == 0


@pytest.mark.long  # on every change `load` is tried with it
def test_the_starter_set_is_loaded_without_names_and_moves_of_it_are_found(ggn: Command) -> None:
    result = ggn("load", "--library")
    assert (result.code, result.err) == (0, "")
    assert names(ggn("list")) == sorted(library.STARTER)
    assert len(ggn("moves", "chess").records()) == 20


def test_a_game_that_is_unknown_keeps_all_others_out(run: Program) -> None:
    result = run("--db", "new.db", "load", "--library", "chess", "nothing")
    assert (result.code, result.out) == (1, "")
    assert 'the library has no game "nothing"' in result.err
    assert not Path("new.db").exists()


def test_on_a_terminal_the_game_at_work_is_shown() -> None:
    result = on_terminal("load", "--library", "makruk", "chess")
    assert result.code == 0
    assert "makruk" in result.out
    total = sum(library.index()[name].possibilities for name in ("makruk", "chess"))
    assert f"/{total}" in result.out
    assert f"2 documents: 2 new; {total:,} possibilities in " in result.out.splitlines()[-1]


# --- show ---


def test_show_tells_the_tier_and_what_is_left_to_the_host(ggn: Command) -> None:
    write("rook.toml", ROOK)
    ggn("load", "rook.toml")
    shown = ggn("show", "rook").out
    assert "tier          A\n" in shown
    assert "definition    10 lines of TOML (`export --definition` writes them)\n" in shown
    assert "\npass          a player may pass\n" in shown
    assert "betza" not in shown
    data = json.loads(ggn("show", "rook", "--format", "json").out)
    assert (data["tier"], data["host"], data["definition"]) == ("A", {"pass": "a player may pass"}, ROOK)
    write("quick.json", QUICK)
    ggn("load", "quick.json")
    assert "tier" not in ggn("show", "quick").out
    assert "definition" not in json.loads(ggn("show", "quick", "--format", "json").out)


def test_show_tells_what_it_can_where_the_definition_is_of_another_version(run: Program) -> None:
    write("rook.toml", ROOK)
    assert run("--db", "new.db", "load", "rook.toml").code == 0
    with closing(sqlite3.connect("new.db", isolation_level=None)) as connection:
        drop_guards_of_file(connection)
        document = generate(read_definition(ROOK))
        envelope = replace(document.envelope, definition=ROOK.replace("tier", "rank"))
        digest = replace(document, envelope=envelope).digest
        connection.execute("UPDATE revision SET envelope = replace(envelope, 'tier', 'rank'), digest = ?", [digest])
    shown = run("--db", "new.db", "show", "rook")
    assert shown.code == 0
    assert shown.err.startswith("the definition of rook@1 cannot be read by this ggn-store:\n")
    assert "rank: a definition has no such key" in shown.err
    assert "definition    10 lines of TOML" in shown.out
    assert json.loads(run("--db", "new.db", "show", "rook", "--format", "json").out)["host"] == {}


# --- no store ---


@pytest.mark.parametrize(
    "command",
    [
        ("list",),
        ("show", "chess"),
        ("export", "chess"),
        ("delete", "chess"),
        ("moves", "chess"),
        ("apply", "chess", "--move", "C:P e2 e4"),
        ("db", "check"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("kind", ["nothing", "an empty file"])
def test_a_command_that_only_asks_makes_no_store(run: Program, command: tuple[str, ...], kind: str) -> None:
    if kind == "an empty file":
        write("typo.db", "")
    result = run("--db", "typo.db", *command)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: sqlite:///typo.db: there is no store here: ")
    assert "`ggn-store load --library` makes a store" in result.err
    assert result.err.count("\n") == 1
    assert Path("typo.db").exists() == (kind == "an empty file")
    assert not Path("typo.db").exists() or not Path("typo.db").read_bytes()


def test_a_command_that_only_asks_makes_no_data_directory(run: Program, tmp_path: Path) -> None:
    assert run("list").code == 1
    assert not (tmp_path / "home").exists()


# --- completion ---


def test_games_are_completed(run: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = complete(run, monkeypatch, "ggn-store generate xiang")
    assert "plain,xiangqi" in offered
    assert "file,xiang" in offered


def test_find_game_takes_the_library_before_a_file_of_that_name() -> None:
    write("chess", ROOK)
    assert find_game("chess").title == "Chess"
    assert find_game("./chess").title == "Rooks alone"
