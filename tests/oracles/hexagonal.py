"""Chess on hexagons by its written rules, in plain Python: hexagons are points of a plane, with whole coordinates.

Two hexagons that touch are two apart on one line of such, or one and one; the same for boards that lie on another
side, with the coordinates exchanged. Where a label is, each board says by itself; nothing here knows a lattice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

Point = tuple[int, int]
Man = tuple[int, str]  # 1 for White and -1 for Black, and a letter
Move = tuple[str, str, str]  # from, to, and what a pawn becomes

TOUCHING = [(0, 2), (0, -2), (1, 1), (1, -1), (-1, 1), (-1, -1)]
CORNERS = [(2, 0), (-2, 0), (1, 3), (1, -3), (-1, 3), (-1, -3)]
KNIGHT = [(a * x, b * y) for a in (1, -1) for b in (1, -1) for x, y in ((1, 5), (2, 4), (3, 1))]
RIDES = {"R": TOUCHING, "B": CORNERS, "Q": TOUCHING + CORNERS}
LEAPS = {"N": KNIGHT, "K": TOUCHING + CORNERS}
BECOMES = "QRBN"


@dataclass(frozen=True)
class Rules:
    """A game: where labels are, how White's pawns go, from where they go further at first, and its castlings."""

    point: Callable[[int, int], Point]
    forward: list[Point]
    taking: list[Point]
    steps: Mapping[str, int]
    last: set[str]
    castlings: Mapping[int, list[tuple[str, str, str, str]]] = field(default_factory=dict)


def bent(x: int, y: int) -> Point:
    """Eleven files, each counted from its own lower end."""
    return x, 2 * y + abs(x - 5)


def _all(*words: str) -> dict[str, int]:
    return {square: int(word[0]) for word in words for square in word[2:].split(",")}


ENDS = "a6 b7 c8 d9 e10 f11 g10 h9 i8 j7 k6 a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1"
RULES = {
    "glinski": Rules(
        bent,
        [(0, 2)],
        [(1, 1), (-1, 1)],
        _all("2:b1,c2,d3,e4,f5,g4,h3,i2,j1", "2:b7,c7,d7,e7,f7,g7,h7,i7,j7"),
        set(ENDS.split()),
    ),
    "mccooey": Rules(
        bent,
        [(0, 2)],
        [(1, 3), (-1, 3)],
        _all("2:c1,d2,e3,g3,h2,i1", "2:c8,d8,e8,g8,h8,i8"),
        set(ENDS.split()),
    ),
    "shafran": Rules(
        lambda x, y: (x, 2 * y - x),
        [(0, 2)],
        [(1, 3), (-1, 3)],
        _all("2:b2,c2,g4,h5,b6,c7,g9,h9", "3:d2,e2,f3,d8,e9,f9"),
        {
            *[
                "a6",
                "b7",
                "c8",
                "d9",
                "e10",
                "f10",
                "g10",
                "h10",
                "i10",
                "a1",
                "b1",
                "c1",
                "d1",
                "e1",
                "f2",
                "g3",
                "h4",
                "i5",
            ]
        },
        {
            1: [("e1", to, "a1", rook) for to, rook in (("c1", "d1"), ("b1", "c1"))]
            + [("e1", to, "i5", rook) for to, rook in (("g3", "f2"), ("h4", "g3"))],
            -1: [("e10", to, "i10", rook) for to, rook in (("g10", "f10"), ("h10", "g10"))]
            + [("e10", to, "a6", rook) for to, rook in (("c8", "d9"), ("b7", "c8"))],
        },
    ),
    "de-vasa": Rules(
        lambda x, y: (y, 2 * x - y),
        [(1, 1), (1, -1)],
        [(1, 3), (1, -3)],
        {f"{file}{rank}": 2 for file in "abcdefghi" for rank in (3, 7)},
        {f"{file}{rank}" for file in "abcdefghi" for rank in (1, 9)},
        {
            1: [("f1", "h1", "i1", "g1"), ("f1", "d1", "a1", "e1")],
            -1: [("d9", "b9", "a9", "c9"), ("d9", "f9", "i9", "e9")],
        },
    ),
}


@dataclass(frozen=True)
class Table:
    """What stands where, who is to move, who has not moved, and what may be captured in passing: where, and from."""

    rules: Rules
    squares: tuple[str, ...]
    men: Mapping[str, Man]
    turn: int = 1
    unmoved: frozenset[str] = frozenset()
    passed: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[Point, str] = field(default_factory=dict)

    def at(self, square: str) -> Point:
        """Where a square is."""
        return self.rules.point(ord(square[0]) - ord("a"), int(square[1:]))

    def legal(self) -> list[Move]:
        """The legal moves."""
        found = []
        for move in self.moves():
            after = self.after(move)
            if not after.is_attacked(self.turn, after.king(self.turn)):
                found.append(move)
        return found + [(king, to, "") for king, to, _, _ in self._castlings()]

    def king(self, side: int) -> str:
        """Where a king is."""
        return next(square for square, man in self.men.items() if man == (side, "K"))

    def is_attacked(self, side: int, square: str) -> bool:
        """Whether the other side could take on a square."""
        men = {**self.men, square: (side, "X")}
        other = replace(self, men=men, turn=-side, passed={})
        return any(to == square for _, to, _ in other.moves())

    def moves(self) -> Iterator[Move]:
        """The moves that the men can make, whatever becomes of the king."""
        names = self.names
        for square, (side, letter) in self.men.items():
            if side != self.turn:
                continue
            x, y = self.at(square)
            if letter == "P":
                yield from self._pawn(square, names)
            for dx, dy in LEAPS.get(letter, []) + RIDES.get(letter, []):
                there = names.get((x + dx, y + dy))
                count = 1
                while there is not None:
                    man = self.men.get(there)
                    if man is None or man[0] != side:
                        yield square, there, ""
                    if man is not None or letter in LEAPS:
                        break
                    count += 1
                    there = names.get((x + count * dx, y + count * dy))

    def _pawn(self, square: str, names: Mapping[Point, str]) -> Iterator[Move]:
        x, y = self.at(square)
        ends = []
        for dx, dy in self.rules.forward:
            for count in range(1, self.first(square) + 1):
                there = names.get((x + self.turn * count * dx, y + self.turn * count * dy))
                if there is None or there in self.men:
                    break
                ends.append(there)
        for dx, dy in self.rules.taking:
            there = names.get((x + self.turn * dx, y + self.turn * dy))
            if there is not None and (self.men.get(there, (0, ""))[0] == -self.turn or there in self.passed):
                ends.append(there)
        for there in ends:
            becomes = BECOMES if there in self.rules.last and not self._is_home(there) else [""]
            yield from ((square, there, each) for each in becomes)

    def first(self, square: str) -> int:
        """How far a pawn may go from a square: further from where those of its side begin."""
        half = self.at(square)[0 if len(self.rules.forward) > 1 else 1]
        own = self.turn * (half - self._middle()) < 0
        return self.rules.steps.get(square, 1) if own else 1

    def _middle(self) -> float:
        axis = 0 if len(self.rules.forward) > 1 else 1
        places = [point[axis] for point in self.names]
        return (min(places) + max(places)) / 2

    def _is_home(self, square: str) -> bool:
        """Whether an end of the board is the own one."""
        axis = 0 if len(self.rules.forward) > 1 else 1
        return self.turn * (self.at(square)[axis] - self._middle()) < 0

    def _line(self, one: str, other: str) -> list[str]:
        """The squares strictly between two on a line of touching hexagons."""
        (x, y), (to_x, to_y) = self.at(one), self.at(other)
        count = max(abs(to_x - x), abs(to_y - y) // 2 if to_x == x else abs(to_x - x))
        names = self.names
        return [names[x + (to_x - x) * n // count, y + (to_y - y) * n // count] for n in range(1, count)]

    def _castlings(self) -> Iterator[tuple[str, str, str, str]]:
        for king, to, rook, rook_to in self.rules.castlings.get(self.turn, []):
            if not {king, rook} <= self.unmoved or any(square in self.men for square in self._line(king, rook)):
                continue
            if not any(self.is_attacked(self.turn, each) for each in (king, *self._line(king, to), to)):
                yield king, to, rook, rook_to

    def after(self, move: Move) -> Table:
        """The table after a move."""
        source, to, becomes = move
        men = dict(self.men)
        side, letter = men.pop(source)
        if letter == "P" and to not in men and to in self.passed and self._takes(source, to):
            del men[self.passed[to]]
        men[to] = (side, becomes or letter)
        passed = {}
        if letter == "P":
            line = self._steps(source, to)
            passed = dict.fromkeys(line, to)
        if letter == "K":
            for king, king_to, rook, rook_to in self._castlings():
                if (king, king_to) == (source, to):
                    men[rook_to] = men.pop(rook)
        return replace(self, men=men, turn=-side, unmoved=self.unmoved - {source, to}, passed=passed)

    def _takes(self, source: str, to: str) -> bool:
        (x, y), (a, b) = self.at(source), self.at(to)
        return any((x + self.turn * dx, y + self.turn * dy) == (a, b) for dx, dy in self.rules.taking)

    def _steps(self, source: str, to: str) -> list[str]:
        """The squares that a pawn went over."""
        names = self.names
        (x, y), (a, b) = self.at(source), self.at(to)
        for dx, dy in self.rules.forward:
            for count in (2, 3):
                if (x + self.turn * count * dx, y + self.turn * count * dy) == (a, b):
                    return [names[x + self.turn * n * dx, y + self.turn * n * dy] for n in range(1, count)]
        return []


# White's men, and Black's, as the rules list them.
STARTS = {
    "glinski": (
        "Kg1 Qe1 Rc1 Ri1 Nd1 Nh1 Bf1 Bf2 Bf3 Pb1 Pc2 Pd3 Pe4 Pf5 Pg4 Ph3 Pi2 Pj1",
        "Kg10 Qe10 Rc8 Ri8 Nd9 Nh9 Bf11 Bf10 Bf9 Pb7 Pc7 Pd7 Pe7 Pf7 Pg7 Ph7 Pi7 Pj7",
    ),
    "mccooey": (
        "Kg1 Qe1 Rd1 Rh1 Ne2 Ng2 Bf1 Bf2 Bf3 Pc1 Pd2 Pe3 Pf4 Pg3 Ph2 Pi1",
        "Kg10 Qe10 Rd9 Rh9 Ne9 Ng9 Bf11 Bf10 Bf9 Pc8 Pd8 Pe8 Pf8 Pg8 Ph8 Pi8",
    ),
    "shafran": (
        "Ke1 Qd1 Ra1 Ri5 Nb1 Ng3 Bc1 Bf2 Bh4 Pa2 Pb2 Pc2 Pd2 Pe2 Pf3 Pg4 Ph5 Pi6",
        "Ke10 Qf10 Ra6 Ri10 Nc8 Nh10 Bb7 Bd9 Bg10 Pa5 Pb6 Pc7 Pd8 Pe9 Pf9 Pg9 Ph9 Pi9",
    ),
    "de-vasa": (
        "Kf1 Qd1 Ra1 Ri1 Nb1 Nh1 Bc1 Be1 Bg1 Pa3 Pb3 Pc3 Pd3 Pe3 Pf3 Pg3 Ph3 Pi3",
        "Kd9 Qf9 Ra9 Ri9 Nb9 Nh9 Bc9 Be9 Bg9 Pa7 Pb7 Pc7 Pd7 Pe7 Pf7 Pg7 Ph7 Pi7",
    ),
}


def start(name: str, squares: tuple[str, ...]) -> Table:
    """The table at the start of a game."""
    sides = zip((1, -1), STARTS[name], strict=True)
    men = {each[1:]: (side, each[0]) for side, listed in sides for each in listed.split()}
    unmoved = frozenset(square for square, (_, letter) in men.items() if letter in "KR")
    table = Table(RULES[name], squares, men, unmoved=unmoved)
    return replace(table, names={table.at(square): square for square in squares})
