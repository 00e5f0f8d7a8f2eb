"""Board games in plain Python, from their written rules; nothing here uses ggn_store.

Each game gives its start and the moves of a position: the path of squares, `*` for the hand, and the position after it.
What is said otherwise in a mutant of a game is a keyword of its class.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

Square = str
Path = tuple[Square, ...]
FILES: Final = "abcdefghijklmnopqrstuvwxy"


@dataclass(frozen=True)
class Place:
    """A position: what stands where (upper case is the first side's), what is in the hands, and who is to move."""

    board: dict[Square, str]
    is_first: bool = True
    hands: tuple[int, int] = (0, 0)
    phase: str = ""

    def own(self) -> Iterator[tuple[Square, str]]:
        return ((square, piece) for square, piece in self.board.items() if self.is_own(piece))

    def is_own(self, piece: str | None) -> bool:
        return piece is not None and piece.isupper() == self.is_first

    def is_enemy(self, piece: str | None) -> bool:
        return piece is not None and piece.isupper() != self.is_first

    def after(self, changes: dict[Square, str | None], **more: object) -> Place:
        board = {square: piece for square, piece in {**self.board, **changes}.items() if piece is not None}
        return replace(self, **{"board": board, "is_first": not self.is_first, **more})  # type: ignore[arg-type]

    def held(self) -> int:
        return self.hands[not self.is_first]

    def fewer(self) -> tuple[int, int]:
        """The hands without one that is placed."""
        first, second = self.hands
        return (first - 1, second) if self.is_first else (first, second - 1)


Found = list[tuple[Path, Place]]


def at(x: int, y: int) -> Square:
    return f"{FILES[x]}{y + 1}"


def spot(square: Square) -> tuple[int, int]:
    return FILES.index(square[0]), int(square[1:]) - 1


def away(square: Square, dx: int, dy: int) -> Square:
    """The square so far away, on the board or not."""
    x, y = spot(square)
    return at(x + dx, y + dy) if 0 <= x + dx < len(FILES) and y + dy >= 0 else ""


EIGHT: Final = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
FOUR: Final = [(1, 0), (-1, 0), (0, 1), (0, -1)]


class Stones:
    """Stones that are placed on empty cells, and stay: hex."""

    def __init__(self, size: int, stays: bool = True) -> None:
        self.squares = [at(x, y) for x in range(size) for y in range(size)]
        self.stays = stays

    def start(self) -> Place:
        most = (len(self.squares) + 1) // 2
        return Place({}, hands=(most, most))

    def moves(self, place: Place) -> Found:
        free = [square for square in self.squares if square not in place.board]
        found: Found = [
            (("*", square), place.after({square: "S" if place.is_first else "s"}, hands=place.fewer()))
            for square in free
        ]
        if not self.stays:
            found += [((a, b), place.after({a: None, b: piece})) for a, piece in place.own() for b in free]
        return found


class Morris:
    """Men who are placed, then move on lines; who closes a row of three takes one of the other side."""

    def __init__(
        self, rings: int, men: int, diagonals: bool, flies: bool, spares_mills: bool = True, takes: bool = True
    ) -> None:
        width, self.men, self.flies = 2 * rings + 1, men, flies
        self.spares_mills, self.takes = spares_mills, takes
        middle = rings
        self.rows: list[list[Square]] = []
        for ring in range(rings):
            low, high = ring, width - 1 - ring
            self.rows += [[at(x, y) for x in (low, middle, high)] for y in (low, high)]
            self.rows += [[at(x, y) for y in (low, middle, high)] for x in (low, high)]
        spokes = [[at(middle, ring) for ring in range(rings)], [at(ring, middle) for ring in range(rings)]]
        spokes += [[at(middle, width - 1 - ring) for ring in range(rings)]]
        spokes += [[at(width - 1 - ring, middle) for ring in range(rings)]]
        if diagonals:
            corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
            for right, up in corners:
                spokes.append([at(width - 1 - r if right else r, width - 1 - r if up else r) for r in range(rings)])
        self.rows += spokes
        self.mills = [row for row in self.rows if len(row) == 3]
        self.squares = sorted({square for row in self.rows for square in row})
        self.near: dict[Square, set[Square]] = {square: set() for square in self.squares}
        for row in self.rows:
            for a, b in itertools.pairwise(row):
                self.near[a].add(b)
                self.near[b].add(a)

    def start(self) -> Place:
        return Place({}, hands=(self.men, self.men), phase="move")

    def in_mill(self, board: dict[Square, str], square: Square) -> bool:
        return any(square in mill and len({board.get(each) for each in mill}) == 1 for mill in self.mills)

    def moves(self, place: Place) -> Found:
        if place.phase == "take":
            return self.takings(place)
        man = "M" if place.is_first else "m"
        free = [square for square in self.squares if square not in place.board]
        if place.held():
            return [(("*", square), self.closed(place, {square: man}, square, place.fewer())) for square in free]
        own = [square for square, _ in place.own()]
        flies = self.flies and len(own) == 3
        return [
            ((a, b), self.closed(place, {a: None, b: man}, b, place.hands))
            for a in own
            for b in free
            if flies or b in self.near[a]
        ]

    def closed(self, place: Place, changes: dict[Square, str | None], to: Square, hands: tuple[int, int]) -> Place:
        after = place.after(changes, hands=hands)
        if self.takes and self.in_mill(after.board, to):
            board = {**after.board, to: f"+{after.board[to]}"}
            return replace(after, board=board, is_first=place.is_first, phase="take")
        return after

    def takings(self, place: Place) -> Found:
        [taker] = [square for square, piece in place.board.items() if piece[0] == "+"]
        enemies = [square for square, piece in place.board.items() if place.is_enemy(piece)]
        single = [square for square in enemies if not self.in_mill(place.board, square)]
        if not self.spares_mills:
            single = enemies
        plain = place.board[taker][1]
        return [
            ((taker, square), place.after({square: None, taker: plain}, phase="move")) for square in single or enemies
        ]


class Konane:
    """Jumps over neighbours of the other colour, several in one direction."""

    def __init__(self, turns: bool = False, goes_on: bool = True) -> None:
        self.turns, self.goes_on = turns, goes_on
        self.squares = {at(x, y) for x in range(8) for y in range(8)}

    def start(self) -> Place:
        board = {at(x, y): "Ss"[(x + y) % 2] for x in range(8) for y in range(8)}
        del board["d4"], board["e4"]
        return Place(board)

    def moves(self, place: Place) -> Found:
        found: Found = []

        def jump(board: dict[Square, str], path: Path, way: tuple[int, int]) -> None:
            over, to = away(path[-1], *way), away(path[-1], 2 * way[0], 2 * way[1])
            if to not in self.squares or to in board or not place.is_enemy(board.get(over)):
                return
            after = {square: piece for square, piece in board.items() if square not in (path[-1], over)}
            after[to] = board[path[-1]]
            found.append(((*path, to), replace(place, board=after, is_first=not place.is_first)))
            for other in (FOUR if self.turns else [way]) if self.goes_on else []:
                jump(after, (*path, to), other)

        for square, _ in place.own():
            for way in FOUR:
                jump(place.board, (square,), way)
        return found


class Halma:
    """Steps, and jumps over anything, as often as they are possible; no position of a path comes twice."""

    def __init__(self, size: int, depth: int, ways: Sequence[tuple[int, int]] = EIGHT, goes_on: bool = True) -> None:
        self.squares = {at(x, y) for x in range(size) for y in range(size)}
        self.camp = [(x, y) for x in range(depth) for y in range(depth) if x + y < depth]
        self.size, self.ways, self.goes_on = size, ways, goes_on

    def start(self) -> Place:
        far = {at(self.size - 1 - x, self.size - 1 - y): "p" for x, y in self.camp}
        return Place({**{at(x, y): "P" for x, y in self.camp}, **far})

    def moves(self, place: Place) -> Found:
        found: Found = []
        for square, piece in place.own():
            for way in self.ways:
                to = away(square, *way)
                if to in self.squares and to not in place.board:
                    found.append(((square, to), place.after({square: None, to: piece})))
            rest = {each for each in place.board if each != square}
            todo: list[Path] = [(square,)]
            while todo:
                path = todo.pop()
                for x, y in self.ways:
                    over, to = away(path[-1], x, y), away(path[-1], 2 * x, 2 * y)
                    if over in rest and to in self.squares and to not in rest:
                        if to != square or len(path) > 1:
                            found.append(((*path, to), place.after({square: None, to: piece})))
                        if to not in path and self.goes_on:
                            todo.append((*path, to))
        return found


class Jungle:
    """Fighting animals, the rat the weakest, and an elephant that fears it."""

    ORDER: Final = "RCWDPTLE"

    def __init__(
        self,
        traps: bool = True,
        rat_takes_elephant: bool = True,
        elephant_fears: bool = True,
        swimming_rats_block: bool = True,
        shores_part: bool = True,
    ) -> None:
        self.traps, self.rat_takes_elephant, self.elephant_fears = traps, rat_takes_elephant, elephant_fears
        self.swimming_rats_block, self.shores_part = swimming_rats_block, shores_part
        self.squares = {at(x, y) for x in range(7) for y in range(9)}
        self.water = {at(x, y) for x in (1, 2, 4, 5) for y in (3, 4, 5)}

    def start(self) -> Place:
        board = {"a1": "L", "g1": "T", "b2": "D", "f2": "C", "a3": "R", "c3": "P", "e3": "W", "g3": "E"}
        turned = {at(6 - spot(square)[0], 8 - spot(square)[1]): piece.lower() for square, piece in board.items()}
        return Place({**board, **turned})

    def is_possible(self, board: dict[Square, str]) -> bool:
        """Whether nothing but rats swims."""
        return all(piece.upper() == "R" for square, piece in board.items() if square in self.water)

    def moves(self, place: Place) -> Found:
        found: Found = []
        for square, piece in place.own():
            for to in self.targets(place, square, piece.upper()):
                taken = place.board.get(to)
                den = "d1" if place.is_first else "d9"
                if to != den and (taken is None or (place.is_enemy(taken) and self.takes(place, square, to))):
                    found.append(((square, to), place.after({square: None, to: piece})))
        return found

    def targets(self, place: Place, square: Square, animal: str) -> Iterator[Square]:
        for way in FOUR:
            to = away(square, *way)
            if to in self.water and animal in "TL":
                passed = []
                while to in self.water:
                    passed.append(to)
                    to = away(to, *way)
                if not (self.swimming_rats_block and any(each in place.board for each in passed)):
                    yield to
            elif to in self.squares and (animal == "R" or to not in self.water):
                yield to

    def takes(self, place: Place, square: Square, to: Square) -> bool:
        mine, theirs = place.board[square].upper(), place.board[to].upper()
        if self.shores_part and (square in self.water) != (to in self.water):
            return False
        if self.traps and to in (("c1", "e1", "d2") if place.is_first else ("c9", "e9", "d8")):
            return True
        if mine == "R" and theirs == "E":
            return self.rat_takes_elephant
        if mine == "E" and theirs == "R":
            return not self.elephant_fears
        return self.ORDER.index(theirs) <= self.ORDER.index(mine)


Line = tuple[Square, ...]
Points = dict[tuple[int, int], set[tuple[int, int]]]


def lines_of(points: Points) -> list[Line]:
    """The lines that the ways from each point make: one leads to another point where that has the way back."""

    def leads(point: tuple[int, int], way: tuple[int, int]) -> bool:
        there = point[0] + way[0], point[1] + way[1]
        return way in points.get(point, ()) and (-way[0], -way[1]) in points.get(there, ())

    lines = []
    for point, ways in points.items():
        for x, y in ways:
            if leads(point, (x, y)) and not leads(point, (-x, -y)):
                line = [point]
                while leads(line[-1], (x, y)):
                    line.append((line[-1][0] + x, line[-1][1] + y))
                lines.append(tuple(at(*each) for each in line))
    return lines


def alquerque(*wings: str, diagonals: bool = True) -> list[Line]:
    """A board of lines of five points each way, with triangles at some sides: `up`, `down`, `left`, `right`."""
    left, down = 2 * ("left" in wings), 2 * ("down" in wings)
    points: Points = {}
    for x in range(-4, 5):
        for y in range(-4, 5):
            across, along = sorted((abs(x), abs(y)))
            side = ("right" if x > 0 else "left") if abs(x) > abs(y) else "up" if y > 0 else "down"
            if along <= 2:
                points[x, y] = {*(EIGHT if diagonals and (x + y) % 2 == 0 else FOUR)}
            elif side in wings and across in (0, along - 2):
                # Rows get wider, and the two edges and the middle run to the corner that touches the square.
                outward = (x // max(1, abs(x)), y // max(1, abs(y)))
                row = (0, along - 2) if side in ("left", "right") else (along - 2, 0)
                points[x, y] = {(sign * dx, sign * dy) for sign in (1, -1) for dx, dy in (outward, row)}
    return lines_of({(x + 2 + left, y + 2 + down): ways for (x, y), ways in points.items()})


def hourglass(rows: int, rise: int, halves: int = 2, arms: bool = False) -> list[Line]:
    """One or two triangles of so many rows of three, which meet at a point; with `arms` at that point."""
    points: Points = {}
    for y in range(-rows, rows + 1 if halves == 2 else 1):
        width = abs(y) or rows * arms
        for x in {0, width, -width}:
            ways = {(width, 0), (-width, 0)} if width else set()
            ways |= {(sign * slope, sign * rise) for slope in (-1, 0, 1) for sign in (1, -1) if x == slope * y}
            points[x + rows, (y + rows) * rise] = ways
    return lines_of(points)


def cross(diagonals: bool) -> list[Line]:
    """Five squares of lines of three points, four of them around the fifth."""
    on = {(x, y) for x in range(7) for y in range(7) if 2 <= x <= 4 or 2 <= y <= 4}
    return lines_of({(x, y): {*(EIGHT if diagonals and (x + y) % 2 == 0 else FOUR)} for x, y in on})


def pentagram() -> list[Line]:
    """Five straight lines of four points, as a picture has them."""
    inner, outer = ["e5", "f3", "d2", "b3", "c5"], ["d7", "g5", "f1", "b1", "a5"]
    return [(outer[i], inner[i], inner[(i + 1) % 5], outer[(i + 2) % 5]) for i in range(5)]


class Roads:
    """Pieces that go along lines, and some that jump over enemies; those in a hand are placed first.

    `army` says what stands where, `jumpers` which pieces jump; all of them leap over anything, and take nothing, where
    that is said; `onward` keeps pieces from going back.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        army: dict[str, str],
        *,
        jumpers: str,
        hands: tuple[int, int] = (0, 0),
        waits: bool = True,
        goes_on: bool = False,
        must_take: bool = False,
        leaps: bool = False,
        onward: dict[str, tuple[int, int]] | None = None,
    ) -> None:
        both = [each for line in lines for each in (line, line[::-1])]
        self.near = {
            square: {b for line in both for a, b in itertools.pairwise(line) if a == square}
            for square in dict.fromkeys(itertools.chain(*lines))
        }
        self.threes = [line[i : i + 3] for line in both for i in range(len(line) - 2)]
        self.jumpers, self.hands, self.waits = jumpers, hands, waits
        self.goes_on, self.must_take, self.leaps, self.onward = goes_on, must_take, leaps, onward or {}
        self.board = {square: piece for piece, squares in army.items() for square in squares.split()}
        self.placed = ("".join(filter(str.isupper, army)) or "?")[0], ("".join(filter(str.islower, army)) or "?")[0]

    def start(self) -> Place:
        return Place(self.board, hands=self.hands)

    def moves(self, place: Place) -> Found:
        free = [square for square in self.near if square not in place.board]
        if place.held():
            piece = self.placed[not place.is_first]
            found: Found = [(("*", to), place.after({to: piece}, hands=place.fewer())) for to in free]
            if self.waits:
                return found
        else:
            found = []
        jumps: Found = []

        def jump(board: dict[Square, str], path: Path) -> None:
            further = False
            for source, over, to in self.threes:
                if source == path[-1] and to not in board and place.is_enemy(board.get(over)):
                    after = {square: piece for square, piece in board.items() if square not in (path[-1], over)}
                    after[to] = board[path[-1]]
                    further = True
                    if not self.must_take or not self.goes_on:
                        jumps.append(((*path, to), replace(place, board=after, is_first=not place.is_first)))
                    if self.goes_on:
                        jump(after, (*path, to))
            if self.must_take and self.goes_on and len(path) > 1 and not further:
                jumps.append((path, replace(place, board=board, is_first=not place.is_first)))

        for square, piece in place.own():
            if piece in self.jumpers:
                jump(place.board, (square,))
            rest = place.board.keys() - {square}
            todo: list[Path] = [(square,)] if self.leaps else []
            while todo:
                path = todo.pop()
                for source, over, to in self.threes:
                    if source == path[-1] and over in rest and to not in rest:
                        if to != square or len(path) > 1:
                            found.append(((*path, to), place.after({square: None, to: piece})))
                        if to not in path and self.goes_on:
                            todo.append((*path, to))
            (x, y), (from_x, from_y) = self.onward.get(piece, (0, 0)), spot(square)
            for to in sorted(self.near[square].intersection(free)):
                if (spot(to)[0] - from_x) * x + (spot(to)[1] - from_y) * y >= 0:
                    found.append(((square, to), place.after({square: None, to: piece})))
        return jumps if jumps and self.must_take else jumps + found


class Star:
    """Stones on eight points round a middle (mu torere), or on five (pong hau k'i)."""

    def __init__(self, points: Sequence[Square], middle: Square, start: str, *, guarded: bool, open_ring: bool) -> None:
        self.points, self.middle, self.first, self.guarded = points, middle, start, guarded
        self.closed = not open_ring

    def start(self) -> Place:
        return Place({square: piece for square, piece in zip(self.points, self.first, strict=True) if piece != "."})

    def beside(self, square: Square) -> list[Square]:
        number, last = self.points.index(square), len(self.points) - 1
        near = [self.points[each] for each in (number - 1, number + 1) if 0 <= each <= last]
        if self.closed and number in (0, last):
            near.append(self.points[last - number])
        return near

    def moves(self, place: Place) -> Found:
        found: Found = []
        for square, piece in place.own():
            if square == self.middle:
                ways = list(self.points)
            else:
                near = self.beside(square)
                is_let_in = not self.guarded or any(place.is_enemy(place.board.get(each)) for each in near)
                ways = [*near, *([self.middle] if is_let_in else [])]
            found += [((square, to), place.after({square: None, to: piece})) for to in ways if to not in place.board]
        return found


def serpents() -> list[Line]:
    """Three long rows of points, of which those in the middle row lie between those of the others."""
    # In half steps, by which straight lines are told.
    points = {(2 * i + (row != 2), row): f"{FILES[i]}{row}" for row in (1, 2, 3) for i in range(16 + (row == 2))}
    lines = []
    for x, y in points:
        for dx, dy in ((2, 0), (1, 1), (1, -1)):
            if (x - dx, y - dy) not in points:
                run = [(x + dx * i, y + dy * i) for i in range(17)]
                lines.append(tuple(points[each] for each in itertools.takewhile(points.__contains__, run)))
    return [line for line in lines if len(line) > 1]


def star() -> list[Line]:
    """A star of six points, with four holes along each of their sides."""
    # In half steps; two triangles of thirteen holes along each side.
    on = {(x, y) for y in range(17) for x in range(25) if (x + y) % 2 == 0}
    up = {(x, y) for x, y in on if y >= 4 and abs(x - 12) <= 16 - y}
    down = {(x, y) for x, y in on if y <= 12 and abs(x - 12) <= y}
    return lines_of({hole: {(2, 0), (-2, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)} for hole in up | down})


class FourFieldKono:
    """Steps, and jumps over an own stone onto an enemy."""

    def __init__(self, over_own: bool = True, ways: Sequence[tuple[int, int]] = FOUR) -> None:
        self.over_own, self.ways = over_own, ways
        self.squares = {at(x, y) for x in range(4) for y in range(4)}

    def start(self) -> Place:
        return Place({at(x, y): "SSss"[y] for x in range(4) for y in range(4)})

    def moves(self, place: Place) -> Found:
        found: Found = []
        for square, piece in place.own():
            for x, y in self.ways:
                near, far = away(square, x, y), away(square, 2 * x, 2 * y)
                if near in self.squares and near not in place.board:
                    found.append(((square, near), place.after({square: None, near: piece})))
                hurdle = place.board.get(near)
                if place.is_enemy(place.board.get(far)) and hurdle and place.is_own(hurdle) == self.over_own:
                    found.append(((square, far), place.after({square: None, far: piece})))
        return found


class Dodgem:
    """Cars that go forward or sideways, and off the board at the far edge."""

    def __init__(self, backs: bool = False, leaves: bool = True) -> None:
        self.backs, self.leaves = backs, leaves

    def start(self) -> Place:
        return Place({"a2": "C", "a3": "C", "b1": "c", "c1": "c"})

    def moves(self, place: Place) -> Found:
        found: Found = []
        ahead, astern = ((1, 0), (-1, 0)) if place.is_first else ((0, 1), (0, -1))
        for square, piece in place.own():
            for way in FOUR:
                x, y = spot(square)[0] + way[0], spot(square)[1] + way[1]
                if way == astern and not self.backs:
                    continue
                if 0 <= x < 3 and 0 <= y < 3:
                    if at(x, y) not in place.board:
                        found.append(((square, at(x, y)), place.after({square: None, at(x, y): piece})))
                elif way == ahead and self.leaves:
                    found.append(((square, square), place.after({square: None})))
        return found


class LinesOfAction:
    """Stones that go as far as there are stones on the line, over their own alone."""

    def __init__(self, army: dict[str, str], blocked: bool = True, counts_all: bool = True) -> None:
        self.board = {square: piece for piece, squares in army.items() for square in squares.split()}
        self.blocked, self.counts_all = blocked, counts_all
        self.squares = {at(x, y) for x in range(8) for y in range(8)}

    def start(self) -> Place:
        return Place(self.board)

    def moves(self, place: Place) -> Found:
        found: Found = []
        for square, piece in place.own():
            for x, y in EIGHT:
                line = [away(square, x * i, y * i) for i in range(-7, 8)]
                count = sum(each in self.squares and each in place.board for each in line)
                if not self.counts_all:
                    count = sum(each in self.squares and place.is_own(place.board.get(each)) for each in line)
                to, between = away(square, x * count, y * count), line[8 : 7 + count]
                is_free = not self.blocked or not any(place.is_enemy(place.board.get(each)) for each in between)
                if to in self.squares and is_free and not place.is_own(place.board.get(to)):
                    found.append(((square, to), place.after({square: None, to: piece})))
        return found


class Tafl:
    """Pieces that slide, and take what they close in; on squares of its own a king is hard to take."""

    def __init__(
        self,
        army: dict[str, str],
        throne: Square = "",
        corners: Sequence[Square] = (),
        *,
        hostile: bool = True,
        king_takes: bool = True,
        throne_guards: bool = True,
        size: int = 7,
    ) -> None:
        self.board = {square: piece for piece, squares in army.items() for square in squares.split()}
        # Beyond the edge is no square, which nothing is closed in against.
        self.throne, self.restricted = throne, {throne, *corners} - {""}
        self.hostile, self.king_takes, self.throne_guards = hostile, king_takes, throne_guards
        self.squares = {at(x, y) for x in range(size) for y in range(size)}

    def start(self) -> Place:
        return Place(self.board)

    def is_possible(self, board: dict[Square, str]) -> bool:
        """Whether nothing but the king stands where only he may."""
        return all(piece == "k" for square, piece in board.items() if square in self.restricted)

    def moves(self, place: Place) -> Found:
        found: Found = []
        for square, piece in place.own():
            for x, y in FOUR:
                to = away(square, x, y)
                while to in self.squares and to not in place.board:
                    if piece == "k" or to not in self.restricted:
                        found.append(((square, to), self.closed(place, square, to, piece)))
                    to = away(to, x, y)
        return found

    def closed(self, place: Place, square: Square, to: Square, piece: str) -> Place:
        board = {**{each: held for each, held in place.board.items() if each != square}, to: piece}
        taken: dict[Square, None] = {}

        def holds(each: Square) -> bool:
            if place.is_own(board.get(each)):
                return self.king_takes or board[each] != "k"
            return self.hostile and each in self.restricted and each not in board

        guarded = (
            [self.throne, *(away(self.throne, *way) for way in FOUR)] if self.throne and self.throne_guards else []
        )
        for x, y in FOUR:
            victim = away(to, x, y)
            if not place.is_enemy(board.get(victim)) or not holds(to) or not holds(away(victim, x, y)):
                continue
            sides = [away(victim, y, x), away(victim, -y, -x)]
            is_held = all(place.is_own(board.get(each)) or each == self.throne for each in sides)
            if board[victim] != "k" or victim not in guarded or is_held:
                taken[victim] = None
        return place.after({square: None, to: piece, **taken})


class Seega:
    """Stones that are placed two at a time, then step, and take what they close in, again and again."""

    def __init__(self, middle_is_safe: bool = True, goes_on: bool = True, twice: bool = True) -> None:
        self.middle_is_safe, self.goes_on, self.twice = middle_is_safe, goes_on, twice
        self.squares = [at(x, y) for x in range(5) for y in range(5)]

    def start(self) -> Place:
        return Place({}, hands=(12, 12))

    def moves(self, place: Place) -> Found:
        stone = "S" if place.is_first else "s"
        free = [square for square in self.squares if square not in place.board]
        if place.held():
            stays = self.twice and place.held() % 2 == 0
            return [
                (("*", to), place.after({to: stone}, hands=place.fewer(), is_first=place.is_first == stays))
                for to in free
                if to != "c3"
            ]
        found: Found = []

        def step(board: dict[Square, str], path: Path) -> None:
            for x, y in FOUR:
                to = away(path[-1], x, y)
                if to not in self.squares or to in board:
                    continue
                after = {**{square: piece for square, piece in board.items() if square != path[-1]}, to: stone}
                taken = [
                    near
                    for dx, dy in FOUR
                    if place.is_enemy(after.get(near := away(to, dx, dy)))
                    and place.is_own(after.get(away(near, dx, dy)))
                    and (near != "c3" or not self.middle_is_safe)
                ]
                after = {square: piece for square, piece in after.items() if square not in taken}
                if taken or len(path) == 1:
                    found.append(((*path, to), replace(place, board=after, is_first=not place.is_first)))
                if taken and self.goes_on:
                    step(after, (*path, to))

        for square, _ in place.own():
            step(place.board, (square,))
        return found
