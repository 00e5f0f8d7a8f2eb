"""Large and round chess by its written rules, in plain Python: armies as lists of squares, moves as offsets and lines.

A word says how a man goes: a leap, or a line that it follows until something stands there. `at` of a game are the
squares of White's men, `across` how Black's lie: opposite, turned by half, or written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

Point = tuple[int, int]
Man = tuple[int, str]  # 1 for White and -1 for Black, and a token
Move = tuple[str, str, str]  # from, to, and what it becomes

ORTHOGONAL = [(1, 0), (-1, 0), (0, 1), (0, -1)]
DIAGONAL = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
ALL = ORTHOGONAL + DIAGONAL


def around(a: int, b: int) -> list[Point]:
    """All offsets that are so far along one side and the other."""
    return [(i * x, j * y) for x, y in {(a, b), (b, a)} for i in {1, -1 if x else 1} for j in {1, -1 if y else 1}]


LEAPS = {
    "king": ALL,
    "ferz": DIAGONAL,
    "wazir": ORTHOGONAL,
    "knight": around(1, 2),
    "camel": around(1, 3),
    "zebra": around(2, 3),
    "elephant": around(2, 2),
    "dabbaba": around(0, 2),
    "three straight": around(0, 3),
    "three aslant": around(3, 3),
}
LINES = {"rook": ORTHOGONAL, "bishop": DIAGONAL}
SCREENS = {"cannon": ORTHOGONAL, "crocodile": DIAGONAL}

_CAZAUX = {
    "Q": "rook, bishop",
    "A": "rook, bishop, knight",
    "H": "rook, knight",
    "X": "bishop, knight",
    "S": "rook, ferz",
    "Y": "bishop, wazir",
    "G": "eagle",
    "U": "rhinoceros",
    "O": "cannon, crocodile",
    "L": "king, knight, elephant, dabbaba",
    "D": "king, elephant, dabbaba, three straight, three aslant",
    "F": "knight, camel, zebra",
    "R": "rook",
    "B": "bishop",
    "C": "cannon",
    "V": "crocodile",
    "J": "king, knight",
    "N": "knight",
    "M": "camel",
    "Z": "zebra",
    "E": "ferz, elephant",
    "W": "wazir, dabbaba",
    "T": "three straight, three aslant, pawn",
    "I": "king, twice",
    "P": "pawn, twice, passing",
    "K": "king, jump",
}
_BECOMES = {"N": "F", "M": "F", "Z": "F", "E": "L", "W": "L", "J": "L", "I": "A", "P": "Q", "T": "Q"}
_TAMERLANE = {
    "K": "king",
    "+K": "king",
    "G": "ferz",
    "V": "wazir",
    "Z": "tall",
    "T": "picket",
    "N": "knight",
    "R": "rook",
    "D": "dabbaba",
    "C": "camel",
    "E": "elephant",
    "P": "pawn",
}
_PAWNS = ["K", "G", "V", "Z", "T", "N", "R", "D", "C", "E"]
_ROUND = {"K": "king", "R": "rook", "N": "knight", "P": "rightward", "-P": "leftward"}


@dataclass(frozen=True)
class Rules:
    """A game. `becomes` has what a man must become on its last rank, and `last` these squares where they are others."""

    files: int
    ranks: int
    at: str
    words: Mapping[str, str]
    becomes: Mapping[str, str]
    across: str = "opposite"
    is_round: bool = False
    steps: int = 1
    last: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


RULES = {
    "gigachess": Rules(
        14,
        14,
        """P a3-d3 e4-j4 k3-n3; I e3 j3; Z c1 l1; M b1 m1; N c2 l2; E a2 n2; W e2 j2; J f2; V d1 k1; B d2 k2; Y f3
        C a1 n1; R b2 m2; S i3; U e1; G g3; X i1; H f1; O g1; D i2; L h3; F j1; Q g2; A h1; K h2""",
        _CAZAUX,
        _BECOMES,
    ),
    "terachess": Rules(
        16,
        16,
        """P a4-p4; T d2 m2; I f3 k3; Z c2 n2; M b2 o2; N c3 n3; E a3 p3; W e3 l3; J b1 o1; V f2 k2; B d3 m3; Y c1 n1
        C a2 p2; R b3 o3; S a1 p1; U e2 l2; G g3 j3; X e1 l1; H d1 m1; O h1 i1; D g1 j1; L g2 j2; F f1 k1; Q h3 i3; A i2
        K h2""",
        _CAZAUX,
        _BECOMES,
    ),
    "metamachy": Rules(
        12,
        12,
        "P a3-l3; I e2 h2; N c2 j2; B d2 i2; R b2 k2; Q f1; E a2 l2; M b1 k1; C a1 l1; G g2; L f2; K g1",
        _CAZAUX,
        {"P": "QLG", "I": "QLG"},
    ),
    "rutland": Rules(
        14,
        10,
        "K g1; Q h1; U b1 m1; X f1; R a1 n1; N c1 k1 l1; B d1 e1 i1 j1; P a2-n2",
        {
            **{letter: _CAZAUX[letter] for letter in "QRBN"},
            "K": "king",
            "X": "rook, knight",
            "U": "rook, ferz",
            "P": "pawn, first, passing",
        },
        {"P": "QXURBN"},
        steps=3,
    ),
    # The camp is b1 to l10; a9 and m2 are the citadels.
    "tamerlane": Rules(
        13,
        10,
        """E b1 l1; C d1 j1; D f1 h1; R b2 l2; N c2 k2; T d2 j2; Z e2 i2; G f2; K g2; V h2
        P b3; -D c3; -C d3; -E e3; -G f3; -K g3; -V h3; -Z i3; -T j3; -N k3; -R l3""",
        {**_TAMERLANE, **{f"-{letter}": "pawn" for letter in _PAWNS}},
        {f"-{letter}": "+K" if letter == "K" else letter for letter in _PAWNS},
        across="turned",
    ),
    "circular": Rules(
        16,
        4,
        "Q d4; K e4; B d3 e3; N d2 e2; R d1 e1; P f1-f4; -P c1-c4",
        {**_ROUND, "Q": "rook, bishop", "B": "bishop"},
        {"P": "QRBN", "-P": "QRBN"},
        across="Q m4; K l4; B m3 l3; N m2 l2; R m1 l1; P n1-n4; -P k1-k4",
        is_round=True,
        last={"P": {1: 11, -1: 3}, "-P": {1: 12, -1: 4}},
    ),
    "byzantine": Rules(
        16,
        4,
        "F d4; K e4; E d3 e3; N d2 e2; R d1 e1; P f1-f4; -P c1-c4",
        {**_ROUND, "F": "ferz", "E": "elephant"},
        {},
        across="K m4; F l4; E m3 l3; N m2 l2; R m1 l1; P n1-n4; -P k1-k4",
        is_round=True,
    ),
}
STARTS = frozenset(RULES)
CITADELS = {1: (0, 8), -1: (12, 1)}


def _listed(rules: Rules, text: str) -> dict[Point, str]:
    found: dict[Point, str] = {}
    for line in text.replace("\n", ";").split(";"):
        token, *places = line.split() or [""]
        for place in places:
            first, _, last = place.partition("-")
            (x, y), (to_x, to_y) = point(first), point(last or first)
            found |= {(a, b): token for a in range(x, to_x + 1) for b in range(y, to_y + 1)}
    assert all(0 <= x < rules.files and 0 <= y < rules.ranks for x, y in found)
    return found


def start(name: str) -> Table:
    """A game before its first move."""
    rules = RULES[name]
    white = _listed(rules, rules.at)
    if rules.across in ("opposite", "turned"):
        turned = rules.across == "turned"
        black = {(rules.files - 1 - x if turned else x, rules.ranks - 1 - y): token for (x, y), token in white.items()}
    else:
        black = _listed(rules, rules.across)
    men = {at: (1, token) for at, token in white.items()} | {at: (-1, token) for at, token in black.items()}
    squares = {(x, y) for x in range(rules.files) for y in range(rules.ranks)}
    if name == "tamerlane":
        squares = {(x, y) for x, y in squares if 0 < x < 12} | set(CITADELS.values())
    fresh = frozenset(at for at, (_, token) in men.items() if token == "K")
    return Table(rules, frozenset(squares), men, fresh=fresh, has_citadels=name == "tamerlane")


@dataclass(frozen=True)
class Table:
    """What stands where, who is to move, which kings have not moved, and what may be captured in passing where."""

    rules: Rules
    squares: frozenset[Point]
    men: Mapping[Point, Man]
    turn: int = 1
    fresh: frozenset[Point] = frozenset()
    passed: Mapping[Point, Point] = field(default_factory=dict)
    has_citadels: bool = False

    def legal(self) -> list[Move]:
        """The legal moves: where a side has two royal men, either may be left to be taken."""
        found = []
        for at, to, becomes in self.moves():
            after = self.after((text(at), text(to), becomes))
            royal = [place for place, (side, token) in after.men.items() if side == self.turn and token in ("K", "+K")]
            if len(royal) != 1 or not after.is_attacked(royal[0], self.turn):
                found.append((text(at), text(to), becomes))
        return found

    def is_attacked(self, place: Point, side: int) -> bool:
        """Whether the other side could take a man of this side there."""
        other = replace(self, men={**self.men, place: (side, "?")}, turn=-side, passed={}, fresh=frozenset())
        return any(to == place for _, to, _ in other.moves())

    def moves(self) -> Iterator[tuple[Point, Point, str]]:
        """The moves that the men can make, whatever becomes of the king."""
        for at, (side, token) in self.men.items():
            if side == self.turn:
                ends = [to for word in self.rules.words[token].split(", ") for to in self._ends(at, word)]
                for to in dict.fromkeys(ends):
                    if not self._is_closed(to, token):
                        yield from ((at, to, becomes) for becomes in self._after(at, to, token))

    def after(self, move: Move) -> Table:
        """The table after a move."""
        at, to, becomes = point(move[0]), point(move[1]), move[2]
        side, token = self.men[at]
        men = {place: man for place, man in self.men.items() if place not in (at, to)}
        if to in self.passed and token == "P" and to not in self.men:
            del men[self.passed[to]]
        men[to] = (side, becomes or token)
        middle = {}
        if token in ("P", "I") and not becomes and abs(to[1] - at[1]) > 1 and not self.rules.is_round:
            step = 1 if to[1] > at[1] else -1
            middle = {(at[0], y): to for y in range(at[1] + step, to[1], step)}
        return replace(self, men=men, turn=-side, fresh=self.fresh - {at, to}, passed=middle)

    def _is_closed(self, to: Point, token: str) -> bool:
        return self.has_citadels and to in CITADELS.values() and (token not in ("K", "+K") or to != CITADELS[self.turn])

    def _after(self, at: Point, to: Point, token: str) -> list[str]:
        rules, becomes = self.rules, self.rules.becomes.get(token)
        ends = rules.last.get(token)
        is_last = to[0] == ends[self.turn] if ends else to[1] == (rules.ranks - 1 if self.turn == 1 else 0)
        if token == "T":
            is_last = is_last and abs(to[1] - at[1]) == 1
        if becomes is None or not is_last:
            return [""]
        return [becomes] if becomes == "+K" else list(becomes)

    def _step(self, at: Point, dx: int, dy: int, count: int = 1) -> Point | None:
        x, y = at[0] + dx * count, at[1] + dy * count
        to = (x % self.rules.files if self.rules.is_round else x, y)
        return to if to in self.squares else None

    def _whose(self, at: Point | None) -> int | None:
        return None if at is None else self.men.get(at, (0, ""))[0]

    def _line(self, at: Point, dx: int, dy: int) -> Iterator[Point]:
        """The squares from one on, up to the first that is not empty; nobody ends where it began."""
        for count in range(1, self.rules.files + self.rules.ranks):
            to = self._step(at, dx, dy, count)
            if to is None or to == at:
                return
            yield to
            if to in self.men:
                return

    def _open(self, places: Sequence[Point | None]) -> Iterator[Point]:
        """Those on which no own man stands."""
        yield from (each for each in places if each is not None and self._whose(each) != self.turn)

    def _ends(self, at: Point, word: str) -> Iterator[Point]:
        forward = self.turn
        if word in LEAPS:
            yield from self._open([self._step(at, dx, dy) for dx, dy in LEAPS[word]])
        elif word in LINES:
            for dx, dy in LINES[word]:
                yield from self._open([*self._line(at, dx, dy)])
        elif word in SCREENS:
            for dx, dy in SCREENS[word]:
                line = [*self._line(at, dx, dy)]
                yield from (each for each in line if each not in self.men)
                yield from self._behind(line, dx, dy)
        elif word in ("eagle", "rhinoceros", "tall"):
            for dx, dy in ORTHOGONAL if word == "rhinoceros" else DIAGONAL:
                first = self._step(at, dx, dy)
                turns = [(dx, 0), (0, dy)] if dx and dy else [(dx or side, dy or side) for side in (1, -1)]
                if word != "tall":
                    yield from self._open([first])
                if first is not None and first not in self.men:
                    for turn in turns:
                        yield from self._open([*self._line(first, *turn)][2 if word == "tall" else 0 :])
        elif word == "picket":
            for dx, dy in DIAGONAL:
                yield from self._open([*self._line(at, dx, dy)][1:])
        elif word == "pawn":
            yield from (to for to in [self._step(at, 0, forward)] if self._whose(to) == 0 and to is not None)
            for dx in (1, -1):
                to = self._step(at, dx, forward)
                if to is not None and (self._whose(to) == -self.turn):
                    yield to
        elif word == "passing":
            yield from (to for dx in (1, -1) if (to := self._step(at, dx, forward)) in self.passed and to is not None)
        elif word in ("twice", "first"):
            home = at[1] == (1 if forward == 1 else self.rules.ranks - 2)
            most = 2 if word == "twice" else self.rules.steps if home else 1
            ahead = [each for each in self._line(at, 0, forward) if each not in self.men]
            yield from ahead[1:most]
        elif word == "jump":
            if at in self.fresh and not self.is_attacked(at, self.turn):
                for name in ("dabbaba", "elephant", "knight"):
                    places = [self._step(at, dx, dy) for dx, dy in LEAPS[name]]
                    yield from (each for each in places if each is not None and each not in self.men)
        elif word in ("rightward", "leftward"):
            dx = 1 if word == "rightward" else -1
            yield from (to for to in [self._step(at, dx, 0)] if to is not None and to not in self.men)
            for dy in (1, -1):
                to = self._step(at, dx, dy)
                if to is not None and self._whose(to) == -self.turn:
                    yield to

    def _behind(self, line: list[Point], dx: int, dy: int) -> Iterator[Point]:
        """What is taken over the screen at the end of a line."""
        if line and line[-1] in self.men:
            further = [*self._line(line[-1], dx, dy)]
            if further and self._whose(further[-1]) == -self.turn:
                yield further[-1]


def point(square: str) -> Point:
    """Where a square is."""
    return ord(square[0]) - ord("a"), int(square[1:]) - 1


def text(at: Point) -> str:
    """The label of a square."""
    return f"{chr(ord('a') + at[0])}{at[1] + 1}"
