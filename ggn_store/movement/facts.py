"""What is derived of a piece when it is stored, beside its counts: movement, mobility, what moves do, and its entries.

On a board without coordinates some is not told (None), of a piece that moves in too many ways nothing.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY, Piece
from ggn_store.model.documents.geometry import Symmetry, Vector
from ggn_store.model.documents.layout import PLAIN, Layout
from ggn_store.movement import words
from ggn_store.movement.entries import Entries
from ggn_store.movement.grid import Grid, bits_of
from ggn_store.movement.movement import (
    ITSELF,
    NOTHING,
    QUIET,
    RUN,
    Extents,
    Items,
    Motion,
    Movement,
    digest,
    forms,
    moves_of,
    multiple,
)
from ggn_store.notation import qpi

# To be raised whenever a fact of some piece is another one than before.
VERSION: Final = 4
# Each shape has a set of squares: these take no more bits.
MOST_BITS: Final = 1 << 29
# Which squares are reached from each of so many would take more memory than all else.
MOST_SOURCES: Final = 10_000


class NamedMovement(NamedTuple):
    """A movement as it is stored: its fingerprint, which mirrored ones have, too, and itself in words.

    `forms` are digests, set apart by blanks: as it is, then under each other symmetry of the board.
    """

    fingerprint: str | None = None
    forms: str | None = None
    words: str | None = None


def named(movement: Movement, *, exact: bool = False) -> NamedMovement:
    """A movement as it is stored; with `exact`, square by square."""
    if not movement.motions:
        return NamedMovement()
    if exact:
        return _told(movement.exact_fingerprint, movement.forms(exact=True), movement.motions)
    return _named(frozenset(movement.motions), movement.grid.symmetries)


@functools.lru_cache(maxsize=4_096)
def _named(motions: frozenset[Motion], symmetries: tuple[Symmetry, ...]) -> NamedMovement:
    """Most games have pieces that move like those of others."""
    texts = forms(motions, symmetries)
    return _told(digest(min(texts.values())), texts, motions)


def _told(fingerprint: str, texts: Mapping[Symmetry, str], motions: Iterable[Motion]) -> NamedMovement:
    digests = [digest(f"{fingerprint} {text}") for text in texts.values()]
    return NamedMovement(fingerprint, " ".join(digests), "; ".join(words.describe(motions, tuple(texts))))


class Spread(NamedTuple):
    """Numbers of destinations over the squares that a piece has rules from: their sum, the least and the greatest."""

    total: int | None = None
    least: int | None = None
    most: int | None = None


class Mobility(NamedTuple):
    """Where the piece can go, alone on the board; `ggn_store.analysis.mobility` says what the numbers are."""

    squares: int | None = None
    any: Spread = Spread()
    quiet: Spread = Spread()
    capture: Spread = Spread()
    reach: int | None = None
    colours: str | None = None


class Kinds(NamedTuple):
    """Whether the piece rides, leaps and hops, castling aside."""

    rides: bool | None = None
    leaps: bool | None = None
    hops: bool | None = None


class Counts(NamedTuple):
    """How many possibilities capture, in which way; promote; move another own piece; and ask for more than their path.

    The last are conditions.
    """

    displacing: int | None = None
    elsewhere: int | None = None
    by_another: int | None = None
    either: int | None = None
    promoting: int | None = None
    castling: int | None = None
    off_path: int | None = None


class Facts(NamedTuple):
    """All that is derived of a piece.

    `layout` is its form, and `named` of a board with holes has 1 for each square that the rules name, else 0. `fold`
    is the file, from 1, that the ranks of hexagons fall to.
    """

    moves: NamedMovement = NamedMovement()
    rules: NamedMovement = NamedMovement()
    kinds: Kinds = Kinds()
    mobility: Mobility = Mobility()
    counts: Counts = Counts()
    layout: str | None = None
    named: str | None = None
    fold: int | None = None
    entries: str | None = None

    def row(self) -> tuple[int | str | bool | None, ...]:
        """The values of a row, without what it is of."""
        it = self.mobility
        numbers = *it.any, *it.quiet, *it.capture
        told = *self.moves, *self.rules, *self.kinds, it.squares, *numbers, it.reach, it.colours, *self.counts
        return VERSION, *told, self.layout, self.named, self.fold, self.entries


class Deriver:
    """Derives the facts of pieces on a board that lies so; what it has learnt of one piece helps with the next."""

    def __init__(self, board: Board, layout: Layout = PLAIN) -> None:
        self._board = board
        self._layout = layout
        grid = Grid.of(board, layout.form)
        self._has_points = grid is not None
        self._grid = Grid.row(board) if grid is None else grid
        # Entries are told by labels, whatever these mean.
        self._labels = Grid.of(board) or self._grid if self._grid.hexagonal else self._grid
        self._squares = {code: 1 << number for number, code in enumerate(self._grid.codes)}
        self._of_colour = self._coloured()
        # Which squares of a network have something between them on a line; None on other boards.
        self._apart: set[tuple[int, int]] | None = None
        if layout.is_network:
            self._apart = {
                (board.numbers[a], board.numbers[b])
                for line in layout.lines
                for a, b in itertools.permutations(line, 2)
                if abs(line.index(a) - line.index(b)) > 1 and {a, b} <= board.numbers.keys()
            }

    def _coloured(self) -> dict[int, int]:
        """The squares of each of two colours, of hexagons three; of none without coordinates, and in a network."""
        found: dict[int, int] = {}
        if self._board.coordinates is None or self._layout.is_network:
            return found
        for number, point in enumerate(self._grid.points):
            colour = (point[0] - point[1]) % 3 if self._grid.hexagonal else sum(point) % 2
            found[colour] = found.get(colour, 0) | 1 << number
        return found

    def of(self, piece: Piece) -> Facts:
        """The facts of a piece."""
        squares = text = None
        if self._layout.has_holes:
            there = piece.squares()
            text = "".join("1" if square in there else "0" for square in self._board.squares)
            squares = int(text[::-1] or "0", 2)
        fold = self._grid.fold
        lying = Facts(layout=self._layout.form, named=text, fold=None if fold is None else fold + 1)
        items, entries = Items(piece.identifier, self._grid, squares), Entries.of(piece, self._board, self._labels)
        seen = entries if self._labels is self._grid else Entries.of(piece, self._board, self._grid)
        if not items.read(seen, MOST_BITS // max(1, len(self._board.squares))):
            return lying
        counts, castling = self._counts(items)
        found = lying._replace(mobility=self._mobility(items), counts=counts, entries=entries.text())
        if not self._has_points:
            return found
        moves, rules = items.movement(is_placed=False), items.movement(whole=True, is_placed=False)
        motions = items.movement(is_placed=False, without=castling).motions if castling else moves.motions
        view = self._grid.symmetries[0] if qpi.side_of(piece.identifier) == "first" else self._grid.opposite

        def is_on_line(motion: Motion) -> bool:
            return self._apart is None or any(self._is_apart(*each, view) for each in moves_of(motion, motions[motion]))

        return found._replace(moves=named(moves), rules=named(rules), kinds=_kinds(motions, is_on_line))

    def _is_apart(self, source: int, vector: Vector, view: Symmetry) -> bool:
        """Whether a vector, as a side sees it, leads to another square of a line of the network, over some."""
        code = self._grid.codes[source] + sum(map(int.__mul__, view(vector), self._grid.strides))
        return (source, self._grid.by_code[code]) in (self._apart or ())

    # --- mobility ---

    def _mobility(self, items: Items) -> Mobility:
        codes, squares = self._grid.codes, self._squares
        every: dict[int, int] = {}
        quiet: dict[int, int] = {}
        capture: dict[int, int] = {}
        for (_, to, asked, *_), sources in items.moves.items():
            if to == 0:
                continue
            told = [items.part(code) for code in asked]
            graphs = [every]
            if all(_holds(name, at == 0, has_enemy=False) for name, at in told):
                graphs.append(quiet)
            if all(_holds(name, at == 0, has_enemy=at == to) for name, at in told):
                graphs.append(capture)
            for source in bits_of(sources):
                bit = squares[codes[source] + to] if graphs[1:] else 0
                for graph in graphs:
                    graph[source] = graph.get(source, 0) | bit
        if not every and not any(is_drop and to == 0 for is_drop, to, *_ in items.whole):
            return Mobility()
        any_, on_empty, on_enemy = (
            _spread([graph.get(source, 0) for source in every]) for graph in (every, quiet, capture)
        )
        return Mobility(len(every), any_, on_empty, on_enemy, reach(every), self._colours(every))

    def _colours(self, graph: Mapping[int, int]) -> str | None:
        keeps = {
            bool(squares >> source & 1)
            for source, destinations in graph.items()
            for squares in self._of_colour.values()
            if destinations & squares
        }
        if not keeps:
            return None
        return "free" if len(keeps) > 1 else "bound" if True in keeps else "alternating"

    # --- what moves do ---

    def _counts(self, items: Items) -> tuple[Counts, set[Any]]:
        """How many possibilities do what; and the raw shapes of those that castle."""
        found = dict.fromkeys(Counts._fields, 0)
        castling: set[Any] = set()
        for shape, squares in items.whole.items():
            is_drop, to, codes, _, turn, times = shape
            count = times * max(1, squares.bit_count())
            deed = _Deed(None if is_drop else 0, 0 if is_drop else to, [items.part(code) for code in codes], turn)
            for name in (deed.capture(), deed.promotes(items.piece), deed.castles()):
                if name is not None:
                    found[name] += count
            if deed.castles() is not None:
                castling.add(shape)
            found["off_path"] += count * sum(not self._is_on_path(at, to, is_drop) for at in deed.asked)
        return Counts(**found), castling

    def _is_on_path(self, at: int, to: int | None, is_drop: bool) -> bool:
        if at == 0 or (at == to and not is_drop):
            return True
        if to is None or is_drop or not self._has_points:
            return False
        return is_between(self._grid.vector(at), self._grid.vector(to))


class _Deed:
    """What a possibility asks and changes, by code of the vector; its source, None for the hand, and destination."""

    def __init__(
        self, source: int | None, destination: int | None, told: list[tuple[str, int]], turn: bool | None
    ) -> None:
        self._source = source
        self._destination = destination
        self._must: dict[int, str] = {}
        self._deny: dict[int, str] = {}
        self._becomes: dict[int, str] = {}
        kinds = {"must": self._must, "deny": self._deny, "becomes": self._becomes}
        for name, at in told:
            kind, state = name.split(" ", 1)
            kinds[kind][at] = state
        self.asked = [*self._must, *(at for at in self._deny if at not in self._must)]
        if turn is None and destination is not None:  # no effects are told: it displaces what stands there
            self._becomes[destination] = ITSELF

    def capture(self) -> str | None:
        """Where an enemy must stand that does not afterwards; or may, where nothing is said of what must.

        It does not where the mover goes, even if a piece of the other side is what the mover becomes there.
        """
        kinds = set()
        goes = self._source is not None and self._becomes.get(self._source, ITSELF) != ITSELF
        for at, becomes in self._becomes.items():
            must = self._must.get(at, "")
            if becomes.startswith("foe") and not (goes and at == self._destination):
                continue
            if must == ENEMY or must.startswith("foe"):
                is_there = at == self._destination
                kinds.add("displacing" if is_there else "elsewhere" if becomes == NOTHING else "by_another")
            elif not must and at != self._source and self._deny.get(at) != ENEMY:
                kinds.add("either")
        return next((kind for kind in Counts._fields if kind in kinds), None)

    def promotes(self, piece: str) -> str | None:
        """Whether it becomes a piece of another name, or gets a +."""
        becomes = "" if self._destination is None else self._becomes.get(self._destination, "")
        sort = becomes.removeprefix("friend").strip()
        gains = sort.startswith("same+") and qpi.parse(piece).state != "+"
        return "promoting" if becomes.startswith("friend") and (gains or not sort.startswith("same")) else None

    def castles(self) -> str | None:
        """Whether another own piece leaves its square, and one comes to stand where the mover does not go."""
        leaves = any(
            _is_own(state)
            and at != self._source
            and at in self._becomes
            and (
                at == self._destination
                or not _is_own(self._becomes[at])
                or (self._becomes[at] == ITSELF and state != ITSELF)
            )
            for at, state in self._must.items()
        )
        stands = any(
            _is_own(state)
            and not _is_own(self._must.get(at, ""))
            and (at != self._destination or (state != ITSELF and ITSELF in self._becomes.values()))
            for at, state in self._becomes.items()
        )
        return "castling" if leaves and stands else None


def _is_own(state: str) -> bool:
    return state == ITSELF or state.startswith("friend")


def _holds(name: str, is_source: bool, *, has_enemy: bool) -> bool:
    """Whether a condition may hold with the piece on its source, and nothing else there but an enemy."""
    polarity, state = name.split(" ", 1)
    if is_source:
        return (state == ITSELF) == (polarity == "must")
    if has_enemy:
        return state != ENEMY if polarity == "deny" else state == ENEMY or state.startswith("foe")
    return (state == EMPTY) == (polarity == "must")


def _spread(found: Iterable[int]) -> Spread:
    counts = [squares.bit_count() for squares in found] or [0]
    return Spread(sum(counts), min(counts), max(counts))


def reach(graph: Mapping[int, int]) -> int | None:
    """The greatest number of nodes that one of a graph leads to, that one with them; each has the bits of its next.

    By strongly connected components, as Tarjan finds them; None of too large a graph.
    """
    if len(graph) > MOST_SOURCES:
        return None
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    done: dict[int, int] = {}
    open_: list[int] = []
    for root in graph:
        ahead = [] if root in index else [(root, bits_of(graph[root]))]
        while ahead:
            node, following = ahead[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                open_.append(node)
            for to in following:
                if to not in index:
                    ahead.append((to, bits_of(graph.get(to, 0))))
                    break
                if to not in done:
                    low[node] = min(low[node], index[to])
            else:
                ahead.pop()
                if ahead:
                    low[ahead[-1][0]] = min(low[ahead[-1][0]], low[node])
                if low[node] == index[node]:
                    _close(node, open_, graph, done)
    return max((each.bit_count() for each in done.values()), default=0)


def _close(node: int, open_: list[int], graph: Mapping[int, int], done: dict[int, int]) -> None:
    """Say of a component, which ends with the nodes from this one on, where it leads."""
    begin = open_.index(node)
    members, open_[begin:] = open_[begin:], []
    found = sum(1 << each for each in members)
    for to in {to for each in members for to in bits_of(graph.get(each, 0))}.difference(members):
        found |= done[to]
    done |= dict.fromkeys(members, found)


# --- riders, leapers, hoppers ---


def is_between(vector: Vector, to: Vector) -> bool:
    """Whether a square lies on the straight way to another one."""
    if not any(to):
        return False
    times, whole = multiple(vector, to)
    return times is not None and 0 < times < whole


def _kinds(motions: Mapping[Motion, Extents], is_on_line: Callable[[Motion], bool]) -> Kinds:
    """What motions are: each hops, rides or leaps.

    One hops if a piece must stand between source and destination on a line, and none elsewhere. The others ride in a
    direction in which they go over empty squares by different numbers of steps, and leap in all others.
    """
    lengths: dict[Vector, set[int]] = {}
    plain: set[Vector] = set()
    hops = False
    for motion, found in motions.items():
        to = motion.to
        if to is None or not any(to):
            continue
        on_way = [name for each in motion.path if each != RUN for name in each]
        on_way += [name for name, vector in motion.items if is_between(vector, to)]
        beside = [name for name, vector in motion.items if not is_between(vector, to)]
        if any(map(_is_hurdle, on_way)) and not any(map(_is_hurdle, beside)) and is_on_line(motion):
            hops = True
            continue
        if motion.path == (RUN,):
            lengths.setdefault(to, set()).update(length[0] for length in found)
        plain.add(to)
    riding = {to for to, each in lengths.items() if len(each) > 1}
    return Kinds(bool(riding), bool(plain - riding), hops)


def _is_hurdle(name: str) -> bool:
    """Whether a condition asks for a piece."""
    return name == f"deny {EMPTY}" or (name.startswith("must ") and name != QUIET)
