"""The library's games against Fairy-Stockfish: a sweep, and the small fixtures that the tests read.

    python -m tests.oracles.fairy_stockfish chess shogi    compare at least 300 positions a game, 100 of them targeted
    python -m tests.oracles.fairy_stockfish                all games that it knows
    python -m tests.oracles.fairy_stockfish --write chess  write tests/data/positions/games/chess.txt anew
    python -m tests.oracles.fairy_stockfish --ini FILE orda  a variant of the variants.ini that comes with the engine

It needs pyffish, which is GPL and therefore in an extra of its own: `pip install -e '.[test,oracles]'`. Positions are
from its own play, at random and preferring rare kinds of moves; targeted ones are made from these by taking pieces
away and putting others elsewhere, as far as it calls them valid. Every legal move is compared by name, and after some
of them the board, the hands, the castling rights and the passed square. `legal_moves` of a store is asked, too.

A line of a fixture is a FEN, a tab, the legal moves, a tab, and some of these moves with the FEN after them.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ggn_store import PositionError, Ruleset, Store
from ggn_store.games import library
from ggn_store.notation import cell, qpi
from tests.oracles.play import NOTHING, Game

FIXTURES = Path(__file__).parents[1] / "data" / "positions" / "games"
TOKEN = re.compile(r"[0-9]+|\*|\+?[A-Za-z]~?")
# A fixture has the start, and other positions of no more moves than these.
MANY = 250
PASS = re.compile(r"^([a-z][0-9]+)\1$")


@dataclass(frozen=True)
class Sample:
    """A position with its legal moves, and the positions after some of them."""

    fen: str
    moves: tuple[str, ...]
    after: tuple[tuple[str, str], ...]

    @classmethod
    def from_line(cls, line: str) -> Sample:
        """The sample of one line of a fixture."""
        fen, moves, *after = line.rstrip("\n").split("\t")
        pairs = (each.partition("=") for each in after)
        return cls(fen, tuple(moves.split()), tuple((name, text) for name, _, text in pairs))

    def line(self) -> str:
        """The line of a fixture."""
        return "\t".join([self.fen, " ".join(self.moves), *(f"{name}={text}" for name, text in self.after)])


def differences(game: Game, sample: Sample) -> list[str]:
    """What is not as it should be: one line a difference, without a place for what agrees."""
    position = game.parse(sample.fen)
    legal = game.legal(position)
    missing, extra = sorted(set(sample.moves) - set(legal)), sorted(set(legal) - set(sample.moves))
    found = [f"{sample.fen}: {kind} {' '.join(names)}" for kind, names in (("no", missing), ("also", extra)) if names]
    for name, text in sample.after:
        if name in legal:
            after = game.fen(legal[name].after)
            if comparable(after) != comparable(text, after):
                found.append(f"{sample.fen}: after {name} it is {after}, and should be {text}")
    return found


def of_store(rules: Ruleset, sample: Sample) -> list[str]:
    """The difference between the sample's moves and the legal ones that a store tells."""
    position = rules.position(fen=sample.fen)
    named = {rules.move_text(move, position, "uci") for move in rules.legal_moves(position)}
    legal, theirs = ({PASS.sub(NOTHING, name) for name in each} for each in (named, sample.moves))
    if rules.play.duty("pass"):
        legal, theirs = legal - {NOTHING}, theirs - {NOTHING}
    drops = may_not_mate(rules)
    theirs -= {name for name in theirs - legal if name[:2] in drops and mates(rules.name, sample.fen, name)}
    wrong = sorted(legal ^ theirs)
    return [f"{sample.fen}: the store differs in {' '.join(wrong)}"] if wrong else []


def may_not_mate(rules: Ruleset) -> set[str]:
    """How the drops begin that must not mate. The engine lets them, and calls it lost for the side that did it."""
    duty = rules.play.duty("no-drop-mate")
    return set() if duty is None else {f"{qpi.parse(piece).letter}@" for piece in duty.pieces}


def mates(name: str, fen: str, move: str) -> bool:
    """Whether a move mates."""
    import pyffish

    return not pyffish.legal_moves(name, fen, [move]) and bool(pyffish.gives_check(name, fen, [move]))


def comparable(text: str, other: str | None = None) -> tuple[str, str, list[str]]:
    """A FEN without its counters, the hands sorted, the passed square in the words of `other`."""
    placement, side, *rest = text.split()
    board, bracket, held = placement.partition("[")
    fields = [field for field in rest if not re.fullmatch(r"[0-9+]+", field)] or ["-", "-"]
    passed = fields[1] if len(fields) > 1 else "-"
    if other is not None and not bracket:
        held = other.split()[0].partition("[")[2]  # Where drops are free, it names no hands.
    if other is not None and (
        passed == "-" or passed.endswith(other.split()[3]) or passed.startswith(other.split()[3])
    ):
        # It names a passed square where a capture is possible only, and in games with long first moves one too many.
        passed = other.split()[3]
    return f"{board} {side}", "".join(sorted(held.strip("]-"))), [fields[0], passed]


# --- positions ---


def samples(name: str, game: Game, count: int, seed: str = "1") -> list[Sample]:
    """So many positions of a game, and half as many again that are targeted, each with its moves."""
    chance = random.Random(f"{name} {seed}")
    played = list(dict.fromkeys(_played(name, chance, count)))
    made = _targeted(name, game, chance, played)
    texts = dict.fromkeys(played)
    for text in made:
        if len(texts) >= count + count // 2:
            break
        texts.setdefault(text)
    found = (sample(name, game, text, chance) for text in texts)
    return [each for each in found if each is not None]


def sample(name: str, game: Game, text: str, chance: random.Random) -> Sample | None:
    """What Fairy-Stockfish says of a position, None where the game is over."""
    import pyffish

    moves = pyffish.legal_moves(name, text, [])
    if not moves or pyffish.is_immediate_game_end(name, text, [])[0]:
        return None
    ends_facing = "bikjang" in game.host or any(end.outcome.when == "facing" for end in game.definition.said.ends)
    if ends_facing and game.facing({k: str(v) for k, v in game.parse(text).board.items()}):
        return None
    if "forced-pass" in game.host and _is_pass(moves) and _is_pass(pyffish.legal_moves(name, text, moves)):
        return None  # it passes on and on where nobody can move, and the game is over
    if "pass" in game.host:
        moves = [move for move in moves if not PASS.fullmatch(move)]
    moves = game.once(text, moves)
    after = chance.sample(sorted(moves), min(3, len(moves)))
    names = {move: PASS.sub(NOTHING, move) for move in moves} if "forced-pass" in game.host else {}
    return Sample(
        text,
        tuple(sorted(names.get(move, move) for move in moves)),
        tuple((names.get(move, move), pyffish.get_fen(name, text, [move])) for move in after),
    )


def _is_pass(moves: list[str]) -> bool:
    return len(moves) == 1 and PASS.fullmatch(moves[0]) is not None


def _played(name: str, chance: random.Random, count: int) -> Iterator[str]:
    """Positions of the engine's own random games; some games prefer drops, promotions and the like."""
    import pyffish

    yield pyffish.start_fen(name)
    found = 1
    for _ in range(count * 3):
        text, prefers_rare = pyffish.start_fen(name), chance.random() < 0.5
        for _ in range(chance.randrange(4, 140)):
            moves = pyffish.legal_moves(name, text, [])
            if not moves or pyffish.is_immediate_game_end(name, text, [])[0]:
                break
            rare = [move for move in moves if "@" in move or not move[-1].isdigit()]
            text = pyffish.get_fen(name, text, [chance.choice(rare if rare and prefers_rare else moves)])
            fields = text.split()
            passed = len(fields) > 4 and fields[3] != "-"
            if chance.random() < (0.6 if passed else 0.15 if rare else 0.1):
                yield text
                found += 1
                if found >= count:
                    return


def _targeted(name: str, game: Game, chance: random.Random, played: list[str]) -> Iterator[str]:
    """Valid positions made from played ones: thinner, and with pieces elsewhere."""
    import pyffish

    for _ in range(40 * len(played)):
        fields = chance.choice(played).split()
        placement, bracket, held = fields[0].partition("[")
        fields[0] = _shuffled(placement, game, chance) + bracket + held
        if len(fields) > 4:
            fields[3] = "-"
        if pyffish.validate_fen(" ".join(fields), name) != 1:
            continue
        text = pyffish.get_fen(name, " ".join(fields), [])
        waiting = text.split()
        waiting[1] = "b" if waiting[1] == "w" else "w"
        if len(waiting) > 4:
            waiting[3] = "-"
        if pyffish.validate_fen(text, name) != 1 or pyffish.gives_check(name, " ".join(waiting), []):
            continue
        with contextlib.suppress(PositionError):  # it does not ask whether rights fit what was put elsewhere
            game.parse(text)
            yield text


def _shuffled(placement: str, game: Game, chance: random.Random) -> str:
    ranks = [
        [token for each in TOKEN.findall(rank) for token in ([""] * int(each) if each.isdigit() else [each])]
        for rank in placement.split("/")
    ]
    letters = {form.piece.fen or form.piece.token: form for form in game.forms.values() if form.kind == "plain"}
    squares = [(y, x) for y, rank in enumerate(ranks) for x in range(len(rank))]
    if chance.random() < 0.6:
        for y, x in squares:
            if ranks[y][x] not in ("", "*", "K", "k") and chance.random() < 0.35:
                ranks[y][x] = ""
    for _ in range(chance.randrange(6)):
        placed = [(y, x) for y, x in squares if ranks[y][x] not in ("", "*", "K", "k")]
        empty = [(y, x) for y, x in squares if not ranks[y][x]]
        if not placed or not empty:
            break
        (y, x), (to_y, to_x) = chance.choice(placed), chance.choice(empty)
        side = "first" if ranks[y][x].strip("+~").isupper() else "second"
        form = letters.get(ranks[y][x].upper()) or letters.get(ranks[y][x].upper().strip("~"))
        own = [each for each in game.forms.values() if form and (each.piece, each.side) == (form.piece, side)]
        square = cell.text((to_x, len(ranks) - 1 - to_y))
        plain = next((each for each in own if each.kind == "plain"), None)
        # A pawn where pawns never are would be a question that no rule answers.
        forced = plain and any(
            each.forced != "no" and square in each.zone.of(plain.side) for each in plain.piece.promotions
        )
        if plain and plain.can_stand(square) and not forced and game.may_stand(plain.identifier, square):
            ranks[to_y][to_x], ranks[y][x] = ranks[y][x], ""
    return "/".join(
        re.sub("0+", lambda each: str(len(each[0])), "".join(each or "0" for each in rank)) for rank in ranks
    )


def chosen(found: list[Sample], count: int) -> list[Sample]:
    """The few of many samples that show the most kinds of moves; the first of them all stays."""
    seen: Counter[str] = Counter()
    best, rest = found[:1], found[1:]
    seen.update(_kinds(found[0]))
    while rest and len(best) < count:
        rest.sort(key=lambda each: -sum(1 / (1 + 4 * seen[kind]) for kind in _kinds(each)) + len(each.moves) / 40)
        best.append(rest.pop(0))
        seen.update(_kinds(best[-1]))
    return best


def _kinds(each: Sample) -> set[str]:
    """The kinds of moves of a position: which piece, how far, over what, becoming what."""
    fields = each.fen.split()
    ranks = [
        [token for part in TOKEN.findall(rank) for token in ([""] * int(part) if part.isdigit() else [part])]
        for rank in fields[0].partition("[")[0].split("/")
    ]
    kinds = set(fields[2:3] if len(fields) > 4 else ())
    if len(fields) > 4 and fields[3] != "-":
        kinds.add("passed")
    for move in each.moves:
        if "@" in move:
            kinds.add(f"{move[0]} dropped")
            continue
        match = re.fullmatch(r"([a-z][0-9]+)([a-z][0-9]+)([^,]*)(?:,.*)?", move)
        assert match is not None, move
        (x, y), (to_x, to_y) = cell.parse(match[1]), cell.parse(match[2])
        piece = ranks[len(ranks) - 1 - y][x]
        taken = ranks[len(ranks) - 1 - to_y][to_x]
        far = max(abs(x - to_x), abs(y - to_y))
        kinds.add(f"{piece} {'takes' if taken else 'goes'} {min(far, 3)} {match[3]}")
        if min(to_y, len(ranks) - 1 - to_y) < 2:
            kinds.add(f"{piece} near rank {to_y} {match[3]}")
    return kinds


# --- the command ---


def sweep(name: str, count: int) -> str:
    """Compare a game; its line of the table, and the first differences."""
    began = time.perf_counter()
    game = Game(library.path_of(name).read_text("utf-8"), name)
    found = samples(name, game, count)
    with Store.open("sqlite:///:memory:") as store:
        store.load_library(name)
        rules = store.ruleset(name)
        wrong = [(each, told) for each in found if (told := [*differences(game, each), *of_store(rules, each)])]
    moves, after = sum(len(each.moves) for each in found), sum(len(each.after) for each in found)
    verdict = "agrees" if not wrong else f"DIFFERS in {len(wrong)}"
    spent = time.perf_counter() - began
    lines = [f"{name:20} {len(found):5} positions {moves:7,} moves {after:5} boards  {verdict} ({spent:.0f} s)"]
    return "\n".join([*lines, *(f"  {line}" for _, told in wrong[:3] for line in told)])


def write(name: str) -> str:
    """Write the fixture of a game."""
    game = Game(library.path_of(name).read_text("utf-8"), name)
    start, *others = samples(name, game, 200)
    found = chosen([start, *(each for each in others if len(each.moves) <= MANY)], 24)
    FIXTURES.mkdir(parents=True, exist_ok=True)
    (FIXTURES / f"{name}.txt").write_text("".join(each.line() + "\n" for each in found), "utf-8")
    return f"{name}: {len(found)} positions"


def known_games() -> list[str]:
    """The games of the library that Fairy-Stockfish has, under the same name."""
    import pyffish

    return [name for name in library.names() if name in pyffish.variants()]


def main(arguments: Iterable[str]) -> None:
    """Sweep or write the games that are named."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.fairy_stockfish", description="See the module's text."
    )
    parser.add_argument("games", nargs="*", help="all that Fairy-Stockfish knows, if none is named")
    parser.add_argument("--write", action="store_true", help="write fixtures instead of comparing")
    parser.add_argument("--ini", help="a variants.ini, whose variants the engine then knows, too")
    parser.add_argument("--positions", type=int, default=220, help="played positions a game; half as many are targeted")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(list(arguments))
    if options.ini:
        import pyffish

        pyffish.load_variant_config(Path(options.ini).read_text("utf-8"))
    if len(options.games) == 1:
        name = options.games[0]
        print(write(name) if options.write else sweep(name, options.positions), flush=True)
        return
    # Each game in a process of its own: some positions make the engine crash.
    arguments = [*(["--write"] if options.write else []), "--positions", str(options.positions)]
    arguments += ["--ini", options.ini] if options.ini else []
    with ThreadPoolExecutor(options.processes) as pool:
        names = options.games or known_games()
        for name, told in zip(names, pool.map(lambda name: _alone(name, arguments), names), strict=True):
            print(told or f"{name}: the engine crashed", flush=True)


def _alone(name: str, arguments: list[str]) -> str:
    command = [sys.executable, "-W", "ignore", "-m", "tests.oracles.fairy_stockfish", *arguments, name]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])


def fixture(name: str) -> list[Sample]:
    lines = (FIXTURES / f"{name}.txt").read_text("utf-8").splitlines()
    return [Sample.from_line(line) for line in lines]
