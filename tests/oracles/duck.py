"""Duck chess as Fairy-Stockfish plays it, whose move is both of the moves that the description has.

    python -m tests.oracles.duck            compare 150 positions of the engine's own play
    python -m tests.oracles.duck --write    write tests/data/positions/duck.txt anew

It needs pyffish: see fairy_stockfish.py. Of a position all pieces' moves are compared by their names, and after each of
them all squares where the duck may go; then the position after some whole moves.

A line of the fixture is a FEN, a tab, the moves with how many squares the duck then has, a tab, and some whole moves
with the FEN after them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ggn_store import Position, Ruleset, Store
from ggn_store.notation import cell

NAME = "duck"
GAME = "gdl/duck-chess"
FIXTURE = Path(__file__).parents[1] / "data" / "positions" / "duck.txt"
HOMES = {"a1": "Q", "h1": "K", "a8": "q", "h8": "k"}


@dataclass(frozen=True)
class Sample:
    """A position with its moves, how many squares the duck has after each, and the positions after some of both."""

    fen: str
    moves: Mapping[str, int]
    after: Mapping[str, str]

    def line(self) -> str:
        moves = " ".join(f"{name}:{count}" for name, count in self.moves.items())
        return "\t".join([self.fen, moves, *(f"{name}={fen}" for name, fen in self.after.items())])

    @classmethod
    def from_line(cls, line: str) -> Sample:
        fen, moves, *after = line.rstrip("\n").split("\t")
        counts = (each.split(":") for each in moves.split())
        return cls(fen, {name: int(count) for name, count in counts}, dict(each.split("=", 1) for each in after))


def fixture() -> list[Sample]:
    return [Sample.from_line(line) for line in FIXTURE.read_text("utf-8").splitlines()]


# --- positions ---


def position(fen: str) -> Position:
    """The position of a FEN; the duck is the mover's."""
    placement, side, rights, passed, *_ = fen.split()
    board: dict[str, str | None] = {}
    for y, rank in enumerate(reversed(placement.split("/"))):
        x = 0
        for each in rank:
            if each.isdigit():
                x += int(each)
                continue
            square = cell.text((x, y))
            letter = ("D" if side == "w" else "d") if each == "*" else each
            begins = HOMES.get(square, "-") in rights or (square in ("e1", "e8") and _rights(letter, rights) != "")
            state = "+" if letter in "KkRr" and begins and letter.isupper() == (y == 0) else ""
            style = NAME.upper() if letter.isupper() else NAME
            board[square] = f"{style}:{state}{letter}{'^' * (letter in 'Kk')}"
            x += 1
    held = {} if "*" in placement else {"DUCK:D" if side == "w" else "duck:d": 1}
    ep = "-1" if passed == "-" else str(cell.parse(passed)[0])
    return Position(board, held, "first" if side == "w" else "second", state={"ep": ep})


def _rights(letter: str, rights: str) -> str:
    return "".join(each for each in rights if each in "KQkq" and each.isupper() == letter.isupper())


def told(of: Position) -> tuple[str, ...]:
    """A position as its FEN's placement, the side to move, and what may castle."""
    pieces = {square: str(piece).partition(":")[2] for square, piece in of.board.items() if piece}
    rows = [[pieces.get(cell.text((x, y)), "").strip("+^") or "." for x in range(8)] for y in range(8)]
    rights = [
        right
        for square, right in HOMES.items()
        if pieces.get(square, "")[:1] == "+" and pieces.get(f"e{square[1]}", "")[:1] == "+"
    ]
    return "/".join("".join(row) for row in rows), of.side, "".join(sorted(rights))


# --- moves ---


def moves(rules: Ruleset, of: Position) -> dict[str, Position]:
    """The moves of pieces by their names, with the positions in which the duck is to move."""
    found = {rules.move_text(move, of, "uci"): move for move in rules.legal_moves(of)}
    return {name: rules.apply(of, move) for name, move in found.items()}


def ducks(rules: Ruleset, of: Position) -> dict[str, Position]:
    """Where the duck may go, with the positions after it."""
    return {move.destination: rules.apply(of, move) for move in rules.legal_moves(of)}


def differences(rules: Ruleset, sample: Sample) -> list[str]:
    """What is not as it should be, one line each."""
    own = moves(rules, position(sample.fen))
    found = [f"{sample.fen}: the moves differ in {sorted(own.keys() ^ sample.moves.keys())}"] * (
        own.keys() != sample.moves.keys()
    )
    for name in own.keys() & sample.moves.keys():
        count = len(ducks(rules, own[name]))
        if count != sample.moves[name]:
            found.append(f"{sample.fen}: after {name} the duck has {count} squares, not {sample.moves[name]}")
    for whole, fen in sample.after.items():
        name, _, second = whole.partition(",")
        after = ducks(rules, own[name]).get(second[2:]) if name in own else None
        if after is None or told(after) != told(position(fen)):
            found.append(f"{sample.fen}: after {whole} it is {after and told(after)}, and should be {fen}")
    return found


def whole(rules: Ruleset, fen: str) -> list[str]:
    """The difference of all whole moves by their names in a position."""
    import pyffish

    theirs = set(pyffish.legal_moves(NAME, fen, []))
    own = {
        f"{name},{_end(name)}{square}"
        for name, after in moves(rules, position(fen)).items()
        for square in ducks(rules, after)
    }
    return [f"{fen}: {sorted(own ^ theirs)[:8]}"] if own != theirs else []


def _end(name: str) -> str:
    return name[2:4]


def samples(count: int, seed: int = 1) -> Iterator[Sample]:
    """Positions of the engine's random games, which prefer what is rare."""
    import pyffish

    chance, found = random.Random(seed), set[str]()
    while len(found) < count:
        fen = pyffish.start_fen(NAME)
        if fen not in found:
            found.add(fen)
            yield _sample(fen, pyffish.legal_moves(NAME, fen, []), chance)
        for _ in range(chance.randrange(1, 90)):
            names = pyffish.legal_moves(NAME, fen, [])
            if not names or pyffish.is_immediate_game_end(NAME, fen, [])[0]:
                break
            pieces = fen.split()[0]
            rare = [name for name in names if not name.partition(",")[0][-1].isdigit() or name[:4] in CASTLINGS]
            fen = pyffish.get_fen(NAME, fen, [chance.choice(rare if rare and chance.random() < 0.3 else names)])
            passed = fen.split()[3] != "-"
            if fen not in found and {"K", "k"} <= set(pieces) and chance.random() < (0.5 if passed or rare else 0.05):
                names = pyffish.legal_moves(NAME, fen, [])
                if names and not pyffish.is_immediate_game_end(NAME, fen, [])[0]:
                    found.add(fen)
                    yield _sample(fen, names, chance)


CASTLINGS = ("e1g1", "e1c1", "e8g8", "e8c8")


def _sample(fen: str, names: list[str], chance: random.Random) -> Sample:
    import pyffish

    firsts = [name.partition(",")[0] for name in names]
    some = chance.sample(sorted(names), min(3, len(names)))
    counts = {first: firsts.count(first) for first in sorted(set(firsts))}
    return Sample(fen, counts, {name: pyffish.get_fen(NAME, fen, [name]) for name in some})


def kinds(sample: Sample) -> set[str]:
    """What is rare in a position."""
    found = {"castling" for name in sample.moves if name in CASTLINGS}
    found |= {"promotion" for name in sample.moves if not name[-1].isdigit()}
    passed = sample.fen.split()[3]
    found |= {"in passing" for name in sample.moves if name[2:4] == passed and name[0] != name[2]}
    return found | ({"no duck"} if "*" not in sample.fen else set())


def main(arguments: list[str]) -> None:
    """Compare, or write the fixture."""
    if arguments == ["--write"]:
        found = list(samples(400))
        best: list[Sample] = []
        for kind in ("castling", "promotion", "in passing", "no duck"):
            best += [each for each in found if kind in kinds(each) and each not in best][:3]
        FIXTURE.write_text("".join(each.line() + "\n" for each in best), "utf-8")
        print(f"{len(best)} positions")
        return
    with Store.open("sqlite:///:memory:") as store:
        store.load_library(GAME)
        rules = store.ruleset(GAME)
        found = list(samples(150, 2))
        wrong = [line for each in found for line in [*differences(rules, each), *whole(rules, each.fen)]]
    rare = {kind: sum(kind in kinds(each) for each in found) for kind in ("castling", "promotion", "in passing")}
    count = sum(sum(each.moves.values()) for each in found)
    print(f"{len(found)} positions, {count:,} whole moves, {rare}: {len(wrong)} differences")
    print("\n".join(wrong[:5]))


if __name__ == "__main__":
    main(sys.argv[1:])
