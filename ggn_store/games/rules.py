"""The rules of a game as its definition says them, and what follows: each side's pieces in each state.

A square, a zone or a castling in a definition is as the first player sees it; the values here hold both sides.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from ggn_store.games.patterns import BetzaPattern
from ggn_store.games.routes import Route, routes
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.geometry import HEXAGONS, Lattice, view
from ggn_store.model.moves.play import Duty, Outcome
from ggn_store.notation import qpi
from ggn_store.notation.qpi import Side, State, other_side

Trigger = Literal["enter", "enter-or-leave", "any"]
SIDES: Final[tuple[Side, ...]] = ("first", "second")
TRIGGERS: Final[tuple[Trigger, ...]] = ("enter", "enter-or-leave", "any")
Forced = Literal["no", "yes", "immobile"]
FormKind = Literal["plain", "unmoved", "marked"]


@dataclass(frozen=True, slots=True)
class Zone:
    """A set of squares for each side."""

    first: frozenset[str]
    second: frozenset[str]

    def of(self, side: Side) -> frozenset[str]:
        """The squares of one side's zone."""
        return self.first if side == "first" else self.second


@dataclass(frozen=True, slots=True)
class BetzaMoves:
    """A Betza string and what it says."""

    betza: str = ""
    patterns: tuple[BetzaPattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Also:
    """More ways of moving: from the squares of `start`, staying inside `within` on the whole way."""

    moves: BetzaMoves
    start: Zone | None = None
    within: Zone | None = None


@dataclass(frozen=True, slots=True)
class Promotion:
    """What a piece may become (`to`, tokens such as `Q` and `+P`) by a move that triggers it.

    `start` is where such a move begins, None for anywhere; `unique` asks that the side has none of what is made.
    With `moves`, or `in_place`, it promotes by these moves alone, or where it stands. No enemy may then be where the
    leaps of `apart` lead from there; with `alone` its side has no other piece like the one that promotes.
    """

    zone: Zone
    to: tuple[str, ...]
    on: Trigger = "enter"
    forced: Forced = "no"
    capturing: bool = False
    start: Zone | None = None
    unique: bool = False
    moves: BetzaMoves = BetzaMoves()
    in_place: bool = False
    apart: BetzaMoves = BetzaMoves()
    alone: bool = False

    @property
    def is_a_move(self) -> bool:
        """Whether it is a move by itself, and not what another move may end in."""
        return self.in_place or bool(self.moves.patterns)

    def applies(self, side: Side, source: str, destination: str, captures: bool) -> bool:
        """Whether a move of `side` triggers it."""
        zone = self.zone.of(side)
        if (self.capturing and not captures) or (self.start is not None and source not in self.start.of(side)):
            return False
        return destination in zone or (self.on == "enter-or-leave" and source in zone) or self.on == "any"


@dataclass(frozen=True, slots=True)
class Drop:
    """Where a piece in hand may be dropped.

    `file_limit` is how many of the piece a file may hold with the dropped one. `immobile` is whether it may be dropped
    where it could never move. `on_top` asks for something on the square below, for both sides towards the first rank.
    `forms` are what it may be dropped as; with `unmoved` it has not moved where such a piece begins. `apart` are leaps
    to squares that have no enemy, `near` such of which one has an own piece. `other_colour` is whether no own piece
    like it is on a square of the same colour. With `lone` it may be dropped where none is near, too, and turns nothing.
    Along the leaps of `encloses` it has to enclose enemies between itself and own pieces, and these become own ones.
    """

    zone: Zone | None = None
    file_limit: int | None = None
    immobile: bool = True
    on_top: bool = False
    forms: tuple[str, ...] = ()
    unmoved: bool = False
    apart: BetzaMoves = BetzaMoves()
    near: BetzaMoves = BetzaMoves()
    other_colour: bool = False
    lone: bool = False
    encloses: BetzaMoves = BetzaMoves()


@dataclass(frozen=True, slots=True)
class Castling:
    """One way of castling of one side; `rook` is the letter of the piece that is passed."""

    side: Side
    source: str
    destination: str
    rook: str
    rook_source: str
    rook_destination: str
    empty: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wall:
    """What a piece leaves on an empty square with each move: `piece`, a token of its side or else of the other one.

    It is left on a square of `zone`: on any, on the one that the piece came from (`past`), or, where there are `moves`,
    at the end of a way that `piece` goes over empty squares from where the piece has arrived.
    """

    piece: str
    zone: Zone | None = None
    moves: BetzaMoves = BetzaMoves()
    past: bool = False


@dataclass(frozen=True, slots=True)
class Blast:
    """What the captures of a piece destroy: what stands on the squares of `moves` around where they end, and itself.

    Around, pieces of the letters of `spares` are left; the piece itself is, if it `stays`.
    """

    moves: BetzaMoves = BetzaMoves()
    spares: tuple[str, ...] = ()
    stays: bool = False


@dataclass(frozen=True, slots=True)
class PieceRule:
    """A piece of the definition; `token` is what its table is called: `K`, `+P`.

    `initial` are the squares from which the moves marked `i` are possible, None where they belong to the unmoved state.
    `unmoved` are the squares where the piece begins in the state `+`, until it moves. `en_passant` are the squares on
    which it can be captured in passing. `gating` is whether it may enter from the hand on the square that an unmoved
    piece leaves, in the same move. `hand` is the token that it goes to the taker's hand as, None for nothing.
    Around where a move or a drop ends, enemies on the squares of `turns` become own pieces of the same kind.
    """

    token: str
    sides: tuple[Side, ...]
    moves: BetzaMoves = BetzaMoves()
    name: str | None = None
    also: tuple[Also, ...] = ()
    terminal: bool = False
    immune: bool = False
    initial: Zone | None = None
    unmoved: Zone | None = None
    castling: tuple[Castling, ...] = ()
    en_passant: Zone | None = None
    promotions: tuple[Promotion, ...] = ()
    confined: Zone | None = None
    drop: Drop | None = None
    gating: bool = False
    hand: str | None = None
    captures_except: tuple[str, ...] = ()
    hurdles_except: tuple[str, ...] = ()
    wall: Wall | None = None
    blast: Blast = Blast()
    turns: BetzaMoves = BetzaMoves()
    fen: str | None = None

    @property
    def ways(self) -> tuple[Also, ...]:
        """All ways of moving: `moves` from everywhere, then those of `also`."""
        return (Also(self.moves), *self.also)

    @property
    def is_wall(self) -> bool:
        """Whether it stands in the way for good: it never moves, and nothing takes it."""
        return self.immune and not any(also.moves.patterns for also in self.ways)

    @property
    def letter(self) -> str:
        """The letter, in upper case, with the `'` that may stand behind it."""
        return self.token.lstrip("+-")

    @property
    def state(self) -> State:
        """The state that the token has."""
        return "+" if self.token[0] == "+" else "-" if self.token[0] == "-" else ""

    def identifier(self, side: Side, style: str, derived: bool = False, state: State | None = None) -> str:
        """The piece as the document names it."""
        chosen = self.state if state is None else state
        is_primed = len(self.letter) > 1
        return str(qpi.Identifier(style, self.letter[0], side, chosen, self.terminal, derived or is_primed))


@dataclass(frozen=True, slots=True)
class End:
    """An outcome as a definition says it: its pieces are tokens, and its squares are those of a zone."""

    outcome: Outcome
    zone: Zone | None = None


@dataclass(frozen=True, slots=True)
class SaidOfPlay:
    """What a definition says of how it is played; `host` is what is left to the players."""

    duties: tuple[Duty, ...] = ()
    ends: tuple[End, ...] = ()
    host: tuple[str, ...] = ()


@dataclass(frozen=True)
class Definition:
    """A game.

    `styles` are those of the first and the second player, `said` is how it is played as far as that is written.
    `captures` says whether captured pieces go to the taker's hand, `turned` whether left and right are exchanged for
    the second side, `hexagons` how such are laid out, None on a board of squares. `text` is the TOML text that all this
    was read from.
    """

    title: str
    board: Board
    styles: tuple[str, str]
    pieces: tuple[PieceRule, ...]
    source: str | None = None
    tier: str | None = None
    notes: str | None = None
    start: str | None = None
    cylinder: bool = False
    hexagons: str | None = None
    turned: bool = False
    zones: Mapping[str, Zone] = field(default_factory=dict)
    said: SaidOfPlay = field(default_factory=SaidOfPlay)
    captures: bool = False
    text: str | None = None

    @property
    def host(self) -> tuple[str, ...]:
        """What it asks for beyond its moves: the names of its duties, and of what is left to the players."""
        return (*(duty.name for duty in self.said.duties), *self.said.host)

    @functools.cached_property
    def lattice(self) -> Lattice:
        """How the squares lie."""
        return Lattice(self.board, self.hexagons is not None, self.cylinder, HEXAGONS.get(self.hexagons, "axial"))

    @functools.cached_property
    def first(self) -> Army:
        """The first player's pieces."""
        return Army(self, "first")

    @functools.cached_property
    def second(self) -> Army:
        """The second player's pieces."""
        return Army(self, "second")

    def army(self, side: Side) -> Army:
        """The pieces of one side."""
        return self.first if side == "first" else self.second

    @functools.cached_property
    def castles_anywhere(self) -> bool:
        """Whether a king castles from several squares, so that only its rook tells where it castles to."""
        found = {(each.side, each.source) for piece in self.pieces for each in piece.castling}
        return len(found) > len({side for side, _ in found})

    @functools.cached_property
    def forms(self) -> Mapping[str, Form]:
        """Every piece of both sides in every state, by its identifier."""
        return {form.identifier: form for side in SIDES for form in self.army(side).forms}

    def style(self, side: Side) -> str:
        """The style of one side, in upper case."""
        return self.styles[0 if side == "first" else 1]


@dataclass(frozen=True, slots=True)
class Form:
    """A piece of one side in one state. `squares` are all where it can stand, None where that is not limited.

    A `plain` form is the piece as its table names it; `unmoved` the state `+` of a piece that castles or has moves of
    its own as long as it has not moved; `marked` a state of a piece that can be captured in passing.
    """

    identifier: str
    piece: PieceRule
    side: Side
    style: str
    derived: bool
    kind: FormKind
    squares: frozenset[str] | None

    @property
    def can_be_held(self) -> bool:
        """Whether the piece can come to the board from a hand."""
        return self.kind == "plain" and (self.piece.drop is not None or self.piece.gating)

    def can_stand(self, square: str) -> bool:
        """Whether the piece can be there in this state."""
        return self.squares is None or square in self.squares


@dataclass(frozen=True, slots=True)
class PassedMark:
    """A first move that leaves a piece open to capture in passing, on the squares of `passed`."""

    identifier: str
    square: str
    passed: tuple[str, ...]


class Army:
    """The pieces of one side in all their states, in the order of the document.

    Each piece of the definition comes as `unmoved`, `plain`, `marked`, as far as it has these. Where captured pieces
    change hands and the styles differ, the other side's pieces follow in the derived style.
    """

    def __init__(self, definition: Definition, side: Side) -> None:
        self.definition = definition
        self.side: Side = side
        self._view = view(side, definition.lattice.dimensions, definition.turned)
        self._states: dict[str, dict[tuple[str, tuple[str, ...]], State]] = {}
        self._mobile: dict[tuple[str, str], bool] = {}
        self.forms = tuple(self._all_forms())

    @functools.cached_property
    def marks(self) -> tuple[PassedMark, ...]:
        """Every way in which a piece of this side can come to be open to capture in passing."""
        style = self.definition.style(self.side)
        by_token = {piece.token: piece for piece in self.definition.pieces if self.side in piece.sides}
        return tuple(
            dict.fromkeys(
                PassedMark(by_token[token].identifier(self.side, style, state=state), square, passed)
                for token, states in self._states.items()
                for (square, passed), state in states.items()
            )
        )

    def plain(self, token: str, derived: bool = False) -> Form | None:
        """The form that a token such as `Q` or `+P` names among this side's pieces."""
        return self._plain.get((token, derived))

    def standing(self, square: str) -> list[Form]:
        """The forms that can be on a square."""
        return [each for each in self.forms if each.can_stand(square)]

    def around(self, moves: BetzaMoves, square: str) -> tuple[str, ...]:
        """The squares that some leaps lead to, whatever is there."""
        found = routes(moves.patterns, square, self.definition.lattice, self._view)
        return tuple(dict.fromkeys(route.destination for route in found))

    def lines(self, moves: BetzaMoves, square: str) -> list[tuple[str, ...]]:
        """The squares along each of some leaps, one after the other, to the edge."""
        rides = [replace(each, legs=(replace(each.legs[0], reach=0),)) for each in moves.patterns]
        found: dict[str, tuple[str, ...]] = {}
        for route in routes(rides, square, self.definition.lattice, self._view):
            way = (*route.empty, route.destination)
            found[way[0]] = max(found.get(way[0], ()), way, key=len)
        return list(found.values())

    @functools.cached_property
    def _plain(self) -> Mapping[tuple[str, bool], Form]:
        return {(form.piece.token, form.derived): form for form in self.forms if form.kind == "plain"}

    def mark(self, form: Form, route: Route) -> State | None:
        """The state that a first move leaves its piece in, None where it leaves no mark."""
        if form.piece.en_passant is None or not route.initial or form.derived:
            return None
        passed = self._passed(form.piece, route)
        return self._states[form.piece.token][route.destination, passed] if passed else None

    def ways(self, form: Form, source: str) -> Iterator[Route]:
        """The routes of a piece in one state, from a square."""
        return self._routes(form.piece, source, self.is_first(form, source))

    def is_first(self, form: Form, source: str) -> bool:
        """Whether a move of a piece in one state, from a square, can be its first one."""
        initial = form.piece.initial
        return form.kind == "unmoved" if initial is None else source in initial.of(self.side)

    def is_mobile(self, form: Form, square: str) -> bool:
        """Whether a piece could ever leave a square, were the board empty but for what it needs."""
        key = (form.identifier, square)
        known = self._mobile.get(key)
        if known is None:
            known = self._mobile[key] = any(True for _ in self.ways(form, square))
        return known

    def _routes(self, piece: PieceRule, source: str, first: bool) -> Iterator[Route]:
        confined = self._confined(piece)
        for also in piece.ways:
            for route in self.along(also, source):
                if (first or not route.initial) and (confined is None or route.destination in confined):
                    yield route

    def along(self, also: Also, source: str) -> Iterator[Route]:
        """The routes of one way of moving from a square."""
        if also.start is not None and source not in also.start.of(self.side):
            return
        within = None if also.within is None else also.within.of(self.side)
        for route in routes(also.moves.patterns, source, self.definition.lattice, self._view):
            way = (route.destination, *route.empty, *route.occupied, *route.taken, *route.over)
            if within is None or within.issuperset(way):
                yield route

    # --- the states ---

    def _all_forms(self) -> Iterator[Form]:
        definition, side, other = self.definition, self.side, other_side(self.side)
        for piece in definition.pieces:
            if side in piece.sides:
                yield from self._native_forms(piece)
        if definition.captures and definition.style(side) != definition.style(other):
            style = definition.style(other)
            for piece in definition.pieces:
                if other in piece.sides and not piece.terminal:
                    identifier = piece.identifier(side, style, derived=True)
                    yield Form(identifier, piece, side, style, True, "plain", self._confined(piece))

    def _native_forms(self, piece: PieceRule) -> Iterator[Form]:
        side, style = self.side, self.definition.style(self.side)
        if piece.unmoved is not None:
            identifier = piece.identifier(side, style, state="+")
            yield Form(identifier, piece, side, style, False, "unmoved", piece.unmoved.of(side))
        yield Form(piece.identifier(side, style), piece, side, style, False, "plain", self._confined(piece))
        squares: dict[State, set[str]] = {}
        for (square, _), state in self._mark_states(piece).items():
            squares.setdefault(state, set()).add(square)
        for state in sorted(squares, reverse=True):
            identifier = piece.identifier(side, style, state=state)
            yield Form(identifier, piece, side, style, False, "marked", frozenset(squares[state]))

    def _confined(self, piece: PieceRule) -> frozenset[str] | None:
        return None if piece.confined is None else piece.confined.of(self.side)

    def _passed(self, piece: PieceRule, route: Route) -> tuple[str, ...]:
        zone = piece.en_passant.of(self.side) if piece.en_passant is not None else frozenset()
        return tuple(square for square in route.empty if square in zone)

    def _mark_states(self, piece: PieceRule) -> Mapping[tuple[str, tuple[str, ...]], State]:
        """The state for each end of a first move and squares passed on it.

        `-` for the shortest way to a square and `+` for a second one that passes others: between them they say
        which squares were passed. A third way to one square has no state left, and `read` refuses it.
        """
        if piece.en_passant is None:
            return {}
        starts = piece.initial or piece.unmoved
        ends: dict[str, dict[tuple[str, ...], None]] = {}
        for source in self.definition.board.squares:
            if starts is None or source in starts.of(self.side):
                for route in self._routes(piece, source, first=True):
                    if route.initial and (passed := self._passed(piece, route)):
                        ends.setdefault(route.destination, {})[passed] = None
        numbers = self.definition.board.numbers
        states: dict[tuple[str, tuple[str, ...]], State] = {}
        available: tuple[State, ...] = ("-", "+")
        for square in sorted(ends, key=lambda each: numbers[each]):
            ways = sorted(ends[square], key=lambda passed: (len(passed), [numbers[each] for each in passed]))
            for position, passed in enumerate(ways):
                states[square, passed] = available[min(position, 1)]
        self._states[piece.token] = states
        return states

    def ambiguous(self, piece: PieceRule) -> list[str]:
        """The squares that first moves reach over so many different squares that two states cannot tell them apart."""
        counts = Counter(square for square, _ in self._states.get(piece.token, {}))
        return [square for square, count in counts.items() if count > 2]
