"""A game without one of its rules must not agree any more: otherwise its fixture would show nothing of the rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ggn_store.games import library
from ggn_store.games.betza import parse
from ggn_store.games.definition import read
from ggn_store.games.rules import BetzaMoves, Definition, Drop, PieceRule, Promotion, Zone
from tests.oracles.fairy_stockfish import differences, fixture
from tests.oracles.play import Game
from tests.support.definitions import shipped
from tests.support.sampled import sampled

Change = Callable[[Definition], Definition]
NOWHERE = Zone(frozenset(), frozenset())


@functools.cache
def definition(name: str) -> Definition:
    return library.read_game(name)


def piece(token: str, **values: Any) -> Change:
    """The same game with other values of a piece, each given or made from the piece."""

    def changed(rule: PieceRule) -> PieceRule:
        if rule.token != token:
            return rule
        return replace(rule, **{name: value(rule) if callable(value) else value for name, value in values.items()})

    def change(game: Definition) -> Definition:
        assert any(rule.token == token for rule in game.pieces)
        return replace(game, pieces=tuple(map(changed, game.pieces)))

    return change


def betza(token: str, text: str) -> Change:
    return piece(token, moves=BetzaMoves(text, parse(text)))


def walling(token: str, **values: Any) -> Change:
    return piece(token, wall=lambda rule: replace(rule.wall, **values))


def without(duty: str) -> Change:
    def change(game: Definition) -> Definition:
        assert duty in game.host
        duties = tuple(each for each in game.said.duties if each.name != duty)
        return replace(game, said=replace(game.said, duties=duties))

    return change


def dropping(**values: Any) -> Callable[[PieceRule], Drop]:
    def change(rule: PieceRule) -> Drop:
        assert rule.drop is not None
        return replace(rule.drop, **values)

    return change


def promoting(**values: Any) -> Callable[[PieceRule], tuple[Promotion, ...]]:
    return lambda rule: tuple(replace(each, **values) for each in rule.promotions)


MUTANTS: list[tuple[str, str, Change]] = [
    ("castling", "chess", piece("K", castling=())),
    ("castling on one side", "chess", piece("K", castling=lambda rule: rule.castling[:1] + rule.castling[2:])),
    (
        "castling over empty squares",
        "chess",
        piece("K", castling=lambda r: tuple(replace(c, empty=()) for c in r.castling)),
    ),
    ("castling with other pieces", "perfect", piece("K", castling=lambda rule: rule.castling[:1])),
    ("double step", "chess", piece("P", initial=NOWHERE)),
    ("double step over a piece", "chess", betza("P", "mfWimfDcefF")),
    ("double step from everywhere", "torpedo", betza("P", "mfWcefF")),
    ("first leap", "cambodian", betza("K", "K")),
    ("en passant", "chess", betza("P", "mfWimfnDcfF")),
    ("en passant of a pawn that goes diagonally", "berolina", betza("P", "mfFimfnAcfW")),
    ("promotion", "chess", piece("P", promotions=())),
    ("underpromotion", "chess", piece("P", promotions=promoting(to=("Q",)))),
    ("forced promotion", "chess", piece("P", promotions=promoting(forced="no"))),
    ("promotion to the game's own pieces", "capablanca", piece("P", promotions=promoting(to=("Q", "R", "B", "N")))),
    ("promotion near the end", "grand", piece("P", promotions=lambda rule: rule.promotions[:1])),
    ("promotion on leaving", "shogi", piece("S", promotions=promoting(on="enter"))),
    ("optional promotion", "shogi", piece("S", promotions=promoting(forced="yes"))),
    ("promotion of what could not move on", "shogi", piece("P", promotions=promoting(forced="no"))),
    ("promotion by capture", "micro", piece("P", promotions=promoting(capturing=False))),
    ("the other face", "kyotoshogi", piece("P", drop=dropping(forms=()))),
    ("nifu", "shogi", piece("P", drop=dropping(file_limit=None))),
    ("two on a file", "torishogi", piece("S", drop=dropping(file_limit=1))),
    ("immobile drop of a pawn", "shogi", piece("P", drop=dropping(immobile=True))),
    ("immobile drop of a lance", "shogi", piece("L", drop=dropping(immobile=True))),
    ("immobile drop of a knight", "shogi", piece("N", drop=dropping(immobile=True))),
    ("zone of drops", "crazyhouse", piece("P", drop=dropping(zone=None))),
    ("zone of a dragon's drop", "dragon", piece("D", drop=dropping(zone=None))),
    ("palace", "xiangqi", piece("K", confined=None)),
    ("palace of advisors", "xiangqi", piece("A", confined=None)),
    ("river", "xiangqi", piece("B", confined=None)),
    ("soldiers past the river", "xiangqi", piece("P", also=())),
    ("lame leg of the horse", "xiangqi", betza("N", "N")),
    ("lame leg of the elephant", "xiangqi", betza("B", "A")),
    ("lame legs of the janggi elephant", "janggi", betza("B", "Z")),
    ("hurdle", "xiangqi", betza("C", "R")),
    ("hurdle for captures only", "xiangqi", betza("C", "pR")),
    ("no cannon over a cannon", "janggi", piece("C", hurdles_except=())),
    ("no cannon takes a cannon", "janggi", piece("C", captures_except=())),
    ("lines of the palace", "janggi", piece("K", also=())),
    ("hurdle right before the end", "grasshopper", betza("G", "pQ")),
    ("rides by knight's leaps", "nightrider", betza("N", "N")),
    ("gating", "seirawan", piece("H", gating=False)),
    ("captures unlike moves", "hoppelpoppel", betza("N", "N")),
    ("promotion in place", "sittuyin", piece("P", promotions=promoting(in_place=False))),
    ("promotion by a step", "sittuyin", piece("P", promotions=promoting(moves=BetzaMoves()))),
    ("promotion beside enemies", "sittuyin", piece("P", promotions=promoting(apart=BetzaMoves(), alone=False))),
    ("promotion of the only pawn", "sittuyin", piece("P", promotions=lambda rule: rule.promotions[:1])),
    ("promotion of any pawn", "sittuyin", piece("P", promotions=promoting(alone=False))),
    ("one general", "sittuyin", without("promotion-limit")),
    ("set-up", "sittuyin", without("mandatory-drop")),
    ("arrow", "amazons", piece("Q", wall=None)),
    ("way of the arrow", "amazons", walling("Q", moves=BetzaMoves("mR", parse("mR")))),
    ("place of the arrow", "amazons", walling("Q", moves=BetzaMoves(), past=True)),
    ("squares that stay", "isolation", walling("P", zone=None)),
    ("stones in the way", "petrified", piece("W", immune=False)),
    ("a king that would be stone", "petrified", betza("K", "K")),
    ("trail", "snailtrail", walling("P", past=False)),
    ("royal safety", "chess", without("royal-safety")),
    ("flying general", "xiangqi", without("flying-general")),
    ("mandatory capture", "antichess", without("mandatory-capture")),
    ("no checks", "racingkings", without("no-checks")),
    ("duple check", "spartan", without("duple-check")),
    ("limit of promotions", "grand", without("promotion-limit")),
    ("a king in check stays", "makpong", without("no-flight")),
]


@pytest.mark.parametrize(("rule", "name", "change"), sampled(MUTANTS, one_in=4))
def test_a_game_without_a_rule_disagrees(rule: str, name: str, change: Change) -> None:
    whole = Game(definition(name))
    mutant = Game(change(definition(name)))
    assert any(
        set(mutant.legal(whole.unmarked(whole.parse(sample.fen)))) != set(sample.moves) for sample in fixture(name)
    ), rule


# One rule in each of the games that came last, as their definitions write it.
NEWEST = [
    ("1d-chess", 'betza = "D"', 'betza = "H"'),
    ("3check-crazyhouse", 'drop = { zone = "drops-p" }', "drop = true"),
    ("active", 'to = ["Q", "R", "B", "N"]', 'to = ["Q"]'),
    ("alapo", 'betza = "F"', 'betza = "K"'),
    ("antihouse", '"clear-marks", "mandatory-capture"', '"clear-marks"'),
    ("buffalo", 'betza = "mQ"', 'betza = "mR"'),
    ("chak", 'betza = "pQ"', 'betza = "gQ"'),
    ("chennis", 'betza = "mRcpR"', 'betza = "mRcR"'),
    ("cowboys", 'wall = { piece = "W", betza = "mN" }', 'wall = { piece = "W", betza = "mK" }'),
    ("crossderby", 'initial = "home"', 'initial = "all"'),
    ("dawson", 'duties = ["mandatory-capture"]', "duties = []"),
    ("diana", 'to = ["R", "B", "N"]', 'to = ["R", "B"]'),
    ("doublearmy", 'initial = "home"', 'initial = "all"'),
    ("dragonfly", "drop = false", "drop = true"),
    ("dunsany", 'initial = { first = [], second = "a7:h7" }', 'initial = "a2:h2"'),
    ("elimination", '"clear-marks", "mandatory-capture"', '"clear-marks"'),
    ("empire", 'betza = "mQcK"', 'betza = "mQcB"'),
    ("endgame", "mfWimfnDcefF", "mfWimfnDcfF"),
    ("gemini", 'betza = "BN"', 'betza = "B"'),
    ("gorogoroplus", "drop = { immobile = false, nifu = true }", "drop = { immobile = false }"),
    ("gothhouse", 'drop = { zone = "drops-p" }', "drop = true"),
    ("grandhouse", '"promotion-limit"', '"no-flight"'),
    ("indiangreat", 'betza = "QN"', 'betza = "Q"'),
    ("janggihouse", 'betza = "nN"', 'betza = "N"'),
    ("khans", "mfhNcfW", "mffNcfW"),
    ("maharajah", 'betza = "QN"', 'betza = "Q"'),
    ("makhouse", 'betza = "FfW"', 'betza = "FbW"'),
    ("mansindam", 'betza = "BNW"', 'betza = "BN"'),
    ("massacre", 'betza = "cB"', 'betza = "cQ"'),
    ("minihouse", '["-N", "-B", "-R"], forced = true', '["-N", "-B", "-R"], forced = false'),
    ("mounted", 'betza = "FsfW"', 'betza = "FfW"'),
    ("nim", 'betza = "mfR"', 'betza = "mfR3"'),
    ("northcott", 'betza = "msR"', 'betza = "msR2"'),
    ("orda", 'betza = "mNcR"', 'betza = "mNcB"'),
    ("ordavsempire", 'betza = "mNcK"', 'betza = "mNcB"'),
    ("pandemonium", 'betza = "DWF"', 'betza = "WF"'),
    ("pawnsonly", '["Q"], forced = true', '["Q"], forced = false'),
    ("peasant", 'initial = "home"', 'initial = "all"'),
    ("racingchess", '"no-checks"', '"no-flight"'),
    ("semitorpedo", "mfWimfnDcefF", "mfWimfnDcfF"),
    ("shinobi", 'drops = "a1:h4"', 'drops = "a1:h5"'),
    ("shogun", 'forced = "immobile", unique = true', 'forced = "immobile"'),
    ("snort", 'apart = "W"', 'apart = "F"'),
    ("synochess", 'betza = "FA"', 'betza = "FnA"'),
    ("teeko", 'betza = "mK"', 'betza = "mW"'),
    ("three-musketeers", 'betza = "cW"', 'betza = "cK"'),
    ("upsidedown", 'to = ["Q", "R", "B", "N"]', 'to = ["Q", "R", "B"]'),
    ("weak", 'initial = "home"', 'initial = "all"'),
    ("xhess", "mfWcfFfhmnN", "mfWcfFfhmN"),
    ("xiangqihouse", ', "no-drop-checks"', ""),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "rule", "instead"), NEWEST)
def test_each_of_the_newest_games_without_a_rule_disagrees(name: str, rule: str, instead: str) -> None:
    text = shipped(name)
    assert rule in text
    mutant = Game(read(text.replace(rule, instead)))
    assert any(differences(mutant, sample) for sample in fixture(name))
