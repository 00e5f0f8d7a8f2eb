"""A definition becomes a section of a variants.ini: what it says, what it leaves out, and that it is read back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from ggn_store.errors import ConversionError
from ggn_store.games import library, playing
from ggn_store.games.definition import read
from ggn_store.games.fairy.variants import read_variants
from ggn_store.games.fairy.write import WrittenSection, write
from ggn_store.games.rules import Definition
from ggn_store.model.moves.play import Outcome
from tests.oracles import large_chess, variants_ini
from tests.oracles.fairy_stockfish import FIXTURES, differences, fixture
from tests.oracles.play import Game
from tests.support.program import Command
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.sampled import sampled

# One of each kind; the others are long.
FEW = (
    *(
        "berolina",
        "breakthrough",
        "chennis",
        "coregal",
        "dobutsu",
        "kyotoshogi",
        "minixiangqi",
        "seirawan",
        "snailtrail",
        "spartan",
    ),
)
GAMES = [pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in library.names()]
REFUSED = {"chu-shogi", "dai-shogi", "gomoku", "grant-acedrex", "omega", "raumschach", "wa-shogi"}
REFUSED |= {"de-vasa", "glinski", "mccooey", "shafran", "tenjiku-shogi"} | large_chess.STARTS
REFUSED |= {"havannah", "qubic", "renju", "score-four", "y"}
# Nothing of theirs is in a hand until another board puts it there, and then an import knows of no drop.
ANOTHER_BOARD = {"bughouse", "koedem", "supply"}


def options(section: WrittenSection) -> dict[str, str]:
    """The options of a section."""
    lines = [line for line in section.text.splitlines() if line[0] not in "#["]
    return dict(line.split(" = ", 1) for line in lines)


def imported(section: WrittenSection) -> Definition:
    [variant] = read_variants(section.text.encode(), "variants.ini", (), allow_host_rules=True)
    assert variant.definition is not None, variant.refusals
    return variant.definition


def differs(section: WrittenSection) -> bool:
    """Whether the section says of itself that moves differ."""
    return any(each.moves for each in section.left_out)


# The engine has one rule of captures in passing for both sides; that no piece may be stuck confines those that are left
# without their promotion.
STUCK = {f"mobilityRegion{side}{piece}" for side in ("White", "Black") for piece in ("Lance", "ShogiKnight")}
SAID_AGAIN = {"spartan": {"enPassantRegionBlack"}, "heian-shogi": STUCK}


@pytest.mark.parametrize("name", GAMES)
def test_what_is_written_is_read_back_as_the_same_game(name: str) -> None:
    definition = library.read_game(name)
    if name in REFUSED:
        with pytest.raises(ConversionError, match="Fairy-Stockfish has boards of"):
            write(definition, name)
        return
    section = write(definition, name)
    again = imported(section)
    if (FIXTURES / f"{name}.txt").exists() and not differs(section) and name not in ANOTHER_BOARD:
        game = Game(again)
        found = [told for each in fixture(name) for told in differences(game, each)]
        assert [told for told in found if name != "karouk" or ": after " not in told] == []
    # The engine has an end for each side without a move.
    changed = {key for key, _ in set(options(section).items()) ^ set(options(write(again, name)).items())}
    allowed = {"checkmateValue", "stalemateValue"} | SAID_AGAIN.get(name, set())
    assert changed <= allowed or name in ANOTHER_BOARD, changed


def unstyled(pieces: Iterable[str]) -> tuple[str, ...]:
    """Pieces without their style, which an imported game has another one of."""
    return tuple(sorted(piece.partition(":")[2] for piece in pieces))


def ends(outcomes: Iterable[Outcome], with_pieces: bool) -> set[Outcome]:
    """Outcomes in one form."""
    found = set()
    for each in outcomes:
        if each.when == "extinct" and each.count is None:
            each = replace(each, count=0)
        each = replace(each, pieces=unstyled(each.pieces * with_pieces), squares=tuple(sorted(each.squares)))
        # An end without a move, in check or not, is one for each of these.
        either = (True, False) if each.when == "no-move" and each.in_check is None else (each.in_check,)
        found |= {replace(each, in_check=check) for check in either}
    return found


# What no option says of all that sections leave out, and the ends that the engine has and a game has not.
UNSAID = {"atomic": {"blast-safety"}}
ENDLESS = {"shatar": {("loss", True)}, "suicide": {("draw", True), ("draw", False)}}


@pytest.mark.parametrize("name", sampled(sorted({*library.names()} - REFUSED), one_in=9))
def test_outcomes_and_duties_are_read_back_or_named(name: str) -> None:
    definition = library.read_game(name)
    section = write(definition, name)
    left = {each.where for each in section.left_out}
    kept = tuple(end for n, end in enumerate(definition.said.ends) if f"play.outcome.{n}" not in left)
    before = playing.derive(replace(definition, said=replace(definition.said, ends=kept)))
    after = playing.derive(imported(section))
    # Each side has its own pawns in spartan, and what is read back has both kinds on both sides.
    here, there = (ends(each.outcomes, name != "spartan") for each in (before, after))
    assert here - there == set()
    assert {(each.verdict, each.in_check) for each in there - here} == ENDLESS.get(name, set())
    assert {each.when for each in there - here} <= {"no-move"}
    assert ("play.outcome" in left) == (name in ENDLESS)
    asked, asks = ({(duty.name, unstyled(duty.pieces)) for duty in each.duties} for each in (before, after))
    assert (asked - asks, asks - asked) == ({(duty, ()) for duty in UNSAID.get(name, ())}, set())
    told = {each.reason for each in section.left_out if each.where == "play.duties" and each.moves}
    assert told == {f"no option says {duty}" for duty in UNSAID.get(name, ())}
    host = {each.reason.partition(" ")[0] for each in section.left_out if each.where == "host"}
    assert (host, set(after.host) - set(before.host)) == (set(before.host) - set(after.host), set())


@pytest.mark.parametrize("name", GAMES)
def test_fairy_stockfish_plays_what_is_written(name: str) -> None:
    pytest.importorskip("pyffish")
    if name in REFUSED:
        return
    if name in FEW:
        found = variants_ini.compare(library.read_game(name), f"{name}@1", 4)
        assert (found.is_loaded, found.wrong) == (True, ())
        return
    told = variants_ini.alone(name, 20)
    head = told.partition("\n")[0]
    _, loaded, agreed, _, count, *_ = head.split()
    assert loaded == "loaded", told
    if not re.search("moves differ for [1-9]", head):
        # Who still needs a square for a bishop may drop nothing else there, by its drop-rights.
        wrong = [line for line in told.splitlines()[1:] if not line.startswith("  - ")]
        # What the host takes away after a move is no part of the rules.
        leaves_out = "side-effects" in library.read_game(name).said.host
        wrong = [line for line in wrong if not leaves_out or ": after " not in line]
        assert (agreed == count or leaves_out) == (wrong == []) == (name != "placement"), told
        assert all(re.search(r": also( [NQR]@[a-h][18])+$", line) for line in wrong), told


# --- what has no option ---

PAWNS = """title = "T"
board = "5x5"
style = "T"
start = "k^4/5/5/5/K^3A / T/t"
"""
KINGS = """
[play]
duties = ["royal-safety"]
outcome = [{ when = "no-move", verdict = "loss" }]

[pieces.K]
betza = "K"
terminal = true
"""
SAID = [
    ('[pieces.A]\nbetza = "[F?R]"', "pieces.A.betza", "is not in the Betza notation", True),
    ('[pieces.A]\nbetza = "WnC"', "pieces.A.betza", 'takes "nC" for something else', True),
    ('[pieces.A]\nbetza = "WmlF"', "pieces.A.betza", "left and right are those of each player", True),
    ('[pieces.A]\nbetza = "WicD"', "pieces.A.betza", "first moves are quiet", True),
    ('[pieces.A]\nbetza = "W"\nimmune = true', "pieces.A.immune", "cannot be captured", True),
    ('[pieces.A]\nbetza = "W"\ncaptures_except = ["K"]', "pieces.A.captures_except", "only spare its own kind", True),
    ('[pieces.A]\nbetza = "W"\nhurdles_except = ["K"]', "pieces.A.hurdles_except", "only a janggiCannon", True),
    ('[pieces.A]\nbetza = "W"\nalso = { from = "a1", betza = "F" }', "pieces.A.also", "everywhere alike", True),
    ('[first.A]\nbetza = "W"\n[second.A]\nbetza = "F"', "second.A.betza", "one letter is one type", True),
    (
        '[pieces.A]\nbetza = "W"\npromotion = { zone = "a5", to = ["+A"] }\n[pieces."+A"]\nbetza = "F"',
        "pieces.A.promotion",
        "when it leaves the zone",
        True,
    ),
    (
        '[pieces.A]\nbetza = "W"\npromotion = [{ zone = "a5", to = ["B"] }, { zone = "b5", to = ["C"] }]\n'
        '[pieces.B]\nbetza = "F"\n[pieces.C]\nbetza = "N"',
        "pieces.A.promotion",
        "a piece has one promotion",
        True,
    ),
    (
        '[pieces.A]\nbetza = "W"\ndrop = { zone = "a1" }\n[pieces.B]\nbetza = "F"\ndrop = { zone = "b1:c1" }',
        "pieces.A.drop",
        "the region of drops is for all pieces",
        True,
    ),
    (
        '[pieces.A]\nbetza = "fW"\ndrop = { immobile = false }\n[pieces.B]\nbetza = "fF"\ndrop = true',
        "pieces.B.betza",
        "no piece may be where it could not move on",
        True,
    ),
    (
        '[pieces.A]\nbetza = "W"\ncastling = [{ from = "b1", to = "c1", with = "d1", with_to = "b1" }]\n'
        '[pieces.R]\nbetza = "R"',
        "pieces.A.castling",
        "lets the king castle instead",
        True,
    ),
    (
        '[pieces.A]\nbetza = "W"\n[[play.outcome]]',
        "play.outcome.1",
        "no option ends a game for this reason: bare",
        False,
    ),
]


@pytest.mark.parametrize(("tables", "where", "reason", "moves"), SAID)
def test_what_has_no_option_is_named_with_its_place(tables: str, where: str, reason: str, moves: bool) -> None:
    head, kings = PAWNS, KINGS
    if "play.outcome" in tables:
        tables = tables.replace("\n[[play.outcome]]", "")
        kings = kings.replace('"loss" }]', '"loss" }, { when = "bare", verdict = "loss" }]')
    section = write(read(head + kings + tables), "t")
    found = [each for each in section.left_out if each.where == where and reason in each.reason]
    assert [each.moves for each in found] == [moves], section.left_out
    assert f"# {found[0]}\n" in section.text
    imported(section)


@pytest.mark.parametrize(
    ("keys", "option"),
    [
        ("", "customPiece1 = a:pR"),
        ('captures_except = ["A"]', "mutuallyImmuneTypes = a"),
        ('captures_except = ["A"]\nhurdles_except = ["A"]', "janggiCannon = a"),
    ],
)
def test_a_cannon_is_janggi_s_only_if_it_spares_its_kind_and_jumps_over_none_of_it(keys: str, option: str) -> None:
    definition = read(
        f'{PAWNS.replace("k^", "k").replace("K^", "K")}[pieces.K]\nbetza = "K"\n[pieces.A]\nbetza = "pR"\n{keys}\n'
    )
    section = write(definition, "t")
    assert f"\n{option}\n" in section.text
    assert not differs(section)
    [cannon, again] = [
        next(each for each in made.pieces if each.letter == "A") for made in (definition, imported(section))
    ]
    assert (cannon.captures_except, cannon.hurdles_except) == (again.captures_except, again.hurdles_except)


def test_pawns_that_turn_over_with_each_move_are_told_as_pawns_too() -> None:
    section = write(library.read_game("chennis"), "t")
    assert {"mandatoryPiecePromotion = true", "mandatoryPawnPromotion = true"} <= {*section.text.splitlines()}


@pytest.mark.parametrize(
    ("board", "start", "told"),
    [
        ("13x8", "13/13/13/13/13/13/13/13 / T/t", "this is 13x8"),
        ("8x11", "8/8/8/8/8/8/8/8/8/8/8 / T/t", "this is 8x11"),
    ],
)
def test_a_board_that_the_engine_has_not_is_refused(board: str, start: str, told: str) -> None:
    text = f'title = "T"\nboard = "{board}"\nstyle = "T"\n[pieces.A]\nbetza = "W"\n'
    with pytest.raises(ConversionError, match=told):
        write(read(text), "t")


def test_a_section_has_a_name_that_an_ini_can_have() -> None:
    definition = library.read_game("tic-tac-toe")
    assert "\n[team-a-b-2]\n" in write(definition, "team/a b@2").text
    assert "\n[game]\n" in write(definition, "@").text
    hostile = read(PAWNS.replace('"T"\nboard', '"T\\n[evil:chess]"\nboard') + KINGS + '[pieces.A]\nbetza = "W"')
    assert [line for line in write(hostile, "t").text.splitlines() if line.startswith("[")] == ["[t]"]


# --- the command ---


def test_a_ruleset_is_exported_for_fairy_stockfish_and_imported_again(ggn: Command) -> None:
    ggn("load", "--library", "dobutsu", "kono")
    whole = ggn("export", "dobutsu", "--format", "variants.ini", "-o", "mine.ini")
    assert (whole.code, whole.out, whole.err) == (0, "", "")
    assert ggn("import", "mine.ini", "--allow-host-rules").out == "dobutsu-1@1: loaded, tier A\n"
    partly = ggn("export", "kono", "--format", "variants.ini")
    assert partly.code == 0
    assert partly.err == "kono@1: left out: host: ends is left to the players, and no option is known to say it\n"
    assert "\n[kono-1]\nmaxRank = 5\n" in partly.out


def test_what_is_no_definition_is_not_exported(ggn: Command) -> None:
    ggn("load", "--library", "qubic", "gdl/contraband")
    refused = ggn("export", "qubic", "--format", "variants.ini", "-o", "no.ini")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("Error: qubic-1: Fairy-Stockfish has boards of two dimensions")
    refused = ggn("export", "gdl/contraband", "--format", "variants.ini", "-o", "no.ini")
    assert (refused.code, refused.err) == (
        1,
        "Error: gdl/contraband@1 has no definition in TOML, of which a variants.ini is made\n",
    )
    assert not Path("no.ini").exists()
    for wrong in ("--definition", "--force", "--all-revisions", "--dialect=gdl"):
        assert ggn("export", "qubic", "--format", "variants.ini", wrong).code == 2
