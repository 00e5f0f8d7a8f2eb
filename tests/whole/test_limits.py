"""Limits: each is crossed by something, which ends in one message that says how to raise it and leaves the store alone.

What real files of a hostile size take is measured in processes of their own, with `tests.benchmarks.limits`.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Store, find_game, generate, limits, parse, problems, read_definition
from ggn_store.errors import Problem
from ggn_store.games import estimate
from ggn_store.limits import LimitError, TooManyError
from ggn_store.notation import json_size, json_text
from ggn_store.notation.complaints import Complaints
from tests.benchmarks.limits import CASES, Case, measured
from tests.support.databases import create_store_file
from tests.support.program import MINI, Program, line
from tests.support.program import _own_place as _own_place
from tests.support.program import run as run

GDL = Path(__file__).parents[2] / "data" / "gdl" / "checkers.json"
KINGS = 'title = "Kings"\nboard = "3x3"\nstyle = "C"\n'
KING = f'{KINGS}[pieces.K]\nbetza = "K"\n'


def moves(count: int) -> str:
    """A document of one destination with so many possibilities."""
    return json.dumps({"C:P": {"a1": {"a2": [{"must": {f"a{n + 2}": "empty"}} for n in range(count)]}}})


def stateful(variables: int, values: int) -> str:
    state = {f"v{n}": {"values": [str(v) for v in range(values)], "initial": "0"} for n in range(variables)}
    return json.dumps({"$state": state, "C:P": {"a1": {"a2": [{"diff": {}}]}}})


def checkers(**changes: Any) -> str:
    return json.dumps(json.loads(GDL.read_text(encoding="utf-8")) | changes)


@dataclass(frozen=True)
class Crossing:
    """A limit, set to `value`, and a file that crosses it; with `enough` it does not."""

    name: str
    value: int
    file: str
    content: str | bytes
    said: str
    enough: int
    command: tuple[str, ...] = ("load",)


CROSSINGS = (
    Crossing("document-bytes", 20, "a.json", moves(1), "the file has more than 20 bytes", 1_000),
    Crossing("document-bytes", 20, "a.json.gz", gzip.compress(moves(1).encode()), "more than 20 bytes", 1_000),
    Crossing("document-bytes", 20, "a.ndjson", line("x", MINI), "a.ndjson:1: the file has more than 20 bytes", 5_000),
    Crossing("members", 5, "a.json", moves(6), "1:157: an object or a list has too many members", 6),
    Crossing("values", 12, "a.json", moves(5), "the text holds too many values", 100),
    Crossing("problems", 2, "a.json", moves(5).replace("empty", "x"), "and 3 more (--limit problems=N reports", 5),
    Crossing("pieces", 1, "a.json", '{"C:P": {"a1": {"a2": [{}]}}, "C:Q": {"a1": {"a2": [{}]}}}', "too many pieces", 2),
    Crossing("possibilities", 2, "a.json", moves(3), "the document has too many possibilities", 3),
    Crossing("possibilities", 9, "a.toml", KING, "the game may have too many possibilities", 200),
    Crossing("variables", 1, "a.json", stateful(2, 2), "too many variables", 2),
    Crossing("variable-values", 1, "a.json", stateful(1, 2), "an array of 1 to 1 texts", 2),
    Crossing("stream-lines", 1, "a.ndjson", line("x", MINI) + line("y", MINI), "more than 1 lines", 2),
    Crossing("definition-bytes", 40, "a.toml", KING, "the definition is too long", 1_000),
    Crossing("likes", 1, "a.toml", 'like = "5check"\ntitle = "Like"\n', "like goes through too many games", 2),
    Crossing("key-depth", 1, "a.toml", KING.replace("[pieces.K]", "[pieces.K.x]"), "a key of more than 1 parts", 3),
    Crossing("definition-list", 1, "a.toml", 'host = ["pass", "history"]\n' + KING, "the list is too long", 2),
    Crossing("definition-list", 1, "a.toml", KING + '[zones]\nx = ["a1", "a2"]', "the list is too long", 2),
    Crossing("definition-tables", 1, "a.toml", KING + 'also = [{betza = "D"}, {betza = "A"}]', "list is too long", 2),
    Crossing("definition-squares", 8, "a.toml", KING, "the board is too large", 9),
    Crossing("zone-squares", 5, "a.toml", KING + '[zones]\nx = "a1:b2"', "name too many squares in all", 50),
    Crossing("betza-length", 1, "a.toml", KING.replace('"K"', '"WF"'), "at most 1 characters, not 2", 2),
    Crossing("betza-legs", 1, "a.toml", KING.replace('"K"', '"aK"'), "a move has at most 1 legs", 2),
    Crossing("betza-ways", 55, "a.toml", KING.replace('"K"', '"aK"'), "the string has 56 ways to move", 56),
    Crossing("piece-possibilities", 20, "a.toml", KING, "the piece may have too many possibilities", 200),
    Crossing("piece-conditions", 20, "a.toml", KING, "the piece may have too many conditions", 900),
    Crossing("variants-bytes", 5, "a.ini", "[a:chess]\n", "the file has more than 5 bytes", 50, ("import",)),
    Crossing("variants-sections", 1, "a.ini", "[a:chess]\n[b:chess]\n", "too many sections", 200, ("import",)),
    Crossing("variants-options", 1, "a.ini", "[a:chess]\npass=false\nmaxRank=8\n", "many options", 200, ("import",)),
    Crossing("variants-line", 9, "a.ini", "[a:chess]#\n", "the line is too long", 500, ("import",)),
    Crossing("description-bytes", 99, "a.json", checkers(), "larger than 99 characters", 1 << 20),
    Crossing("description-members", 2, "a.json", checkers(), "list: too many", 50),
    Crossing("description-nodes", 9, "a.json", checkers(), "1 to 9 places", 64),
    Crossing("description-text", 10, "a.json", checkers(), "the text is too long", 500),
    Crossing("description-values", 1, "a.json", checkers(), "would have more than 1 values", 8),
    Crossing("description-kinds", 1, "a.json", checkers(), "more than 1 combinations of attributes", 8),
    Crossing("grounding", 3, "a.json", checkers(), "in more ways than can be followed", 20_000),
    Crossing("grounded-possibilities", 9, "a.json", checkers(), "would have more than 9 possibilities", 9_999),
    Crossing("grounded-entry", 1, "a.json", checkers(), "in more ways than can be followed", 99),
)
# Those whose crossing needs more than a file are crossed where the rest of them is tested.
ELSEWHERE = {
    **dict.fromkeys(("bundle-line", "bundle-bytes", "bundle-ratio", "bundle-lines", "bundle-squares"), "test_bundle"),
    **dict.fromkeys(("chains", "chain-steps"), "test_chains"),
    "bundle-reviews": "test_reviews_travel",
    "compared-possibilities": "test_history",
    "drawn-squares": "test_draw_command",
    "game-bytes": "test_play",
    "policy-positions": "test_policies",
    "position-bytes": "below",
}


def test_every_limit_that_can_be_set_is_crossed_by_something() -> None:
    assert {each.name for each in CROSSINGS} | ELSEWHERE.keys() == set(limits.adjustable())


@pytest.mark.parametrize("crossing", CROSSINGS, ids=lambda each: f"{each.name}-{each.file}")
def test_crossing_a_limit_is_one_message_that_says_how_to_raise_it(crossing: Crossing, run: Program) -> None:
    path = Path(crossing.file)
    content = crossing.content
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    create_store_file(Path("store.db"))
    given = ("--db", "sqlite:///store.db", "--limit", f"{crossing.name}={crossing.value}")
    done = run(*given, *crossing.command, path)
    assert done.code == 1, done.err
    told = done.out + done.err
    assert crossing.said in told, told
    assert f"--limit {crossing.name}=N" in told, told
    assert crossing.file in told or "Checkers" in told, told
    assert told.count(crossing.said) <= 3, told
    with Store.at("sqlite:///store.db") as store:
        assert list(store.revisions()) == []
    enough = run("--db", "sqlite:///store.db", "--limit", f"{crossing.name}={crossing.enough}", *crossing.command, path)
    assert crossing.said not in enough.out + enough.err


def test_positions_from_files_are_read_up_to_their_limit(run: Program) -> None:
    Path("mini.json").write_text(json.dumps(MINI), encoding="utf-8")
    Path("position.json").write_text(json.dumps({"a2": "C:P"}), encoding="utf-8")
    assert run("--db", "sqlite:///store.db", "load", "mini.json").code == 0
    asked = ("moves", "mini", "--board", "@position.json")
    assert run("--db", "sqlite:///store.db", "--limit", "position-bytes=13", *asked).code == 0
    refused = run("--db", "sqlite:///store.db", "--limit", "position-bytes=12", *asked)
    assert (refused.code, "more than 12 bytes (--limit position-bytes=N allows more)" in refused.err) == (1, True)


# --- the settings ---


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("pices=3", 'there is no limit "pices": did you mean pieces?'),
        ("nothing=3", 'there is no limit "nothing": '),
        ("squares=3", "the limit squares is fixed"),
        ("pieces", "write NAME=VALUE"),
        ("pieces=0", "write NAME=VALUE"),
        ("pieces=-1", "write NAME=VALUE"),
        ("pieces=1.5", "write NAME=VALUE"),
        ("pieces=9999999999999999", "a whole number from 1 to"),
    ],
)
def test_a_setting_that_sets_nothing_is_wrong_usage(setting: str, said: str, run: Program) -> None:
    done = run("--limit", setting, "schema", "diff")
    assert done.code == 2
    assert said in done.err


def test_settings_hold_within_their_block_and_nest() -> None:
    assert limits.parse(["pieces=2K", "document-bytes=3M", "pieces=4"]) == {"pieces": 4, "document-bytes": 3 << 20}
    with limits.allow({"pieces": 5}):
        with limits.allow({"problems": 2}):
            assert (limits.PIECES.most, limits.PROBLEMS.most) == (5, 2)
            assert limits.current() == {"pieces": 5, "problems": 2}
        assert (limits.PIECES.most, limits.PROBLEMS.most) == (5, 1_000)
    assert limits.PIECES.most == 10_000
    with pytest.raises(LimitError, match="a whole number"), limits.allow({"pieces": 0}):
        pass


def test_what_is_wrong_is_kept_then_counted_then_left() -> None:
    with limits.allow({"problems": 3}):
        kept = Complaints()
        for number in range(60):
            kept.append(Problem(str(number)))
        assert kept == [Problem("0"), Problem("1"), Problem("2")]
        assert kept.rest(kept[-1]) == [Problem("and 57 more (--limit problems=N reports more)")]
        with pytest.raises(TooManyError):
            kept.append(Problem("60"))
        assert kept.rest(kept[-1]) == [Problem("and at least 58 more (--limit problems=N reports more)")]


def test_the_rest_of_the_problems_is_told_once_and_at_the_end() -> None:
    with limits.allow({"problems": 2}):
        *first, last = problems(moves(100).replace("empty", "x"))
        assert [each.pointer for each in first] == ["/C:P/a1/a2/0/must/a2", "/C:P/a1/a2/1/must/a3"]
        assert last.message == "and at least 39 more (--limit problems=N reports more)"


# --- the size of JSON ---


def _texts() -> Iterator[str]:
    draw = random.Random(7)

    def value(depth: int) -> Any:
        kind = draw.randrange(6 if depth else 4)
        if kind < 4:
            return [None, draw.randrange(9), draw.choice(["", "a,b", '"', "\\", "}{", "é[", "x" * 9]), True][kind]
        inner = [value(depth - 1) for _ in range(draw.randrange(6))]
        return inner if kind == 4 else {f"k{n},": each for n, each in enumerate(inner)}

    for _ in range(400):
        made = value(4)
        yield json.dumps(made, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1)))


def _members(value: Any) -> int:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return max([len(inner), *map(_members, inner)])


def test_the_size_of_a_text_is_told_without_decoding_it(monkeypatch: pytest.MonkeyPatch) -> None:
    crossed = 0
    for number, text in enumerate(_texts()):
        monkeypatch.setattr(json_size, "_PART", (1, 2, 7, 64, 1 << 20)[number % 5])
        most = _members(json.loads(text))
        for limit in {max(1, most - 1), max(1, most), most + 1}:
            with limits.allow({"members": limit}):
                found = json_size.excess(text)
            assert (found is not None) == (most > limit), (text, limit)
            if found is not None:
                crossed += 1
                assert text[found.offset] == ","
    assert crossed > 50


def test_lines_and_columns_are_those_of_plain_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(3)
    for block in (1, 2, 3, 7, 100):
        monkeypatch.setattr(json_text, "_BLOCK", block)
        for letters in ("ab\n", "abcdefghijkl\n"):
            text = "".join(draw.choices(letters, k=60))
            places = json_text.Lines(text)
            for offset in range(len(text) + 1):
                before = text[:offset]
                assert places.place(offset) == (before.count("\n") + 1, offset - before.rfind("\n"))


# --- what definitions make ---


@pytest.mark.long
def test_no_piece_of_the_library_has_more_than_was_estimated() -> None:
    for name in ("chess", "xiangqi", "janggi", "minishogi", "seirawan", "crazyhouse"):
        definition = find_game(name)
        box = estimate._Box(definition)
        for side in ("first", "second"):
            for piece in definition.pieces:
                if side not in piece.sides:
                    continue
                forms = {form.identifier for form in definition.army(side).forms if form.piece == piece}
                made = [each for each in generate(definition).pieces if each.identifier in forms]
                found = box.piece(piece)
                assert sum(each.possibilities for each in made) <= found.possibilities <= 1_000_000, (name, piece.token)
                assert sum(each.conditions for each in made) <= found.conditions <= 20_000_000, (name, piece.token)


ATOMS = (
    "W",
    "F",
    "N",
    "K",
    "Q",
    "R",
    "B",
    "NN",
    "W2",
    "R3",
    "A",
    "D",
    "(1,4)",
    "zB",
    "qR",
    "oR",
    "pR",
    "gB",
    "jR",
    "nN",
)
LEGS = ("aK", "mcaK", "caQ", "maW", "aaK", "pamaF", "mcafsW", "FyafsF", "caafW", "[F?R]", "[N?B]", "mRaR")


def test_no_string_makes_more_than_was_estimated() -> None:
    draw = random.Random(5)
    for number in range(60):
        betza = "".join(draw.choices(ATOMS, k=draw.randrange(1, 3))) if number % 2 else draw.choice(LEGS)
        shape = draw.choice(("3x3", "4x4", "2x7", "5x3"))
        hands = draw.choice(("", "[hands]\ncaptures = true\n"))
        keys = draw.choice(
            (
                *("", 'promotion = { on = "any", to = ["P"] }\n', 'confined = "a1:b2"\n', 'initial = "all"\n'),
                'promotion = { on = "any", to = ["P"], forced = true, capturing = true }\n',
                'also = [{ from = "a1:b3", betza = "pRQ", within = "a1:b3" }, { from = "a1", betza = "N" }]\n',
            )
        )
        text = f'title = "x"\nboard = "{shape}"\nstyle = "C"\ncylinder = {draw.choice(("true", "false"))}\n'
        text += f'[pieces.K]\nbetza = "{betza}"\n{keys}[pieces.P]\nbetza = "fW"\n{hands}'
        with limits.allow({"betza-ways": 100_000}):
            definition = read_definition(text)
        box = estimate._Box(definition)
        for piece in definition.pieces:
            made = [each for each in generate(definition).pieces if each.identifier[2:].upper() == piece.token]
            found = box.piece(piece).times(2)
            assert sum(each.possibilities for each in made) <= found.possibilities, text
            assert sum(each.conditions for each in made) <= found.conditions, text


@pytest.mark.parametrize("betza", ["RmasR", "BmasB", "fBbF2fmasB", "mRaR", "NmaN", "mW2afsF3", "caK", "mcaQ"])
@pytest.mark.parametrize("shape", ["7x7", "4x9"])
def test_two_legs_make_as_many_as_are_estimated(betza: str, shape: str) -> None:
    """None is lost where only the edge ends a leg; where they end on squares that they have been to, some are."""
    text = f'title = "x"\nboard = "{shape}"\nstyle = "C"\n[pieces.H]\nbetza = "{betza}"\n[pieces.P]\nbetza = "fW"\n'
    text += '[pieces.K]\nbetza = "K"\npromotion = { on = "any", to = ["P"], forced = true }\n'
    definition = read_definition(text)
    made = {each.identifier: each for each in generate(definition).pieces}
    counted = {piece.token: found for piece, found in estimate.counts(definition)}
    hooks, kings = counted["H"], counted["K"]
    assert made["C:K"].possibilities == kings.possibilities
    if betza[-2:] in ("sR", "sB"):
        assert made["C:H"].possibilities == hooks.possibilities
    assert made["C:H"].possibilities <= hooks.possibilities
    assert made["C:H"].conditions <= hooks.conditions


def test_documents_beyond_a_limit_are_read_where_it_is_raised() -> None:
    text = moves(200)
    with limits.allow({"members": 100}):
        assert [each.message for each in problems(text)] == ["an object or a list has too many members"]
        with limits.allow({"members": 200}):
            assert parse(text).possibilities == 200


# --- real sizes ---


@pytest.mark.parametrize("case", [each for each in CASES if not each.is_large], ids=lambda each: each.name)
def test_what_is_hostile_ends_at_once_in_little_memory(case: Case, tmp_path: Path) -> None:
    _within(case, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("case", [each for each in CASES if each.is_large], ids=lambda each: each.name)
def test_what_is_ten_times_as_large_ends_at_once_in_little_memory(case: Case, tmp_path: Path) -> None:
    _within(case, tmp_path)


def _within(case: Case, directory: Path) -> None:
    found = measured(case, directory)
    assert found.code == 1, found
    assert "Traceback" not in found.message
    assert case.said in found.message, found
    assert found.seconds < 5, found
    assert found.megabytes < 300, found
