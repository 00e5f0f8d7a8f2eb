"""A GGN document as a value, its canonical form and its digests.

One shape serves the four dialects: `require`/`prevent` of the `perform` dialect are called must and deny
here, and `perform` and `diff` are both effects. The dialect `gdl` is `diff` with guards and effects on the state
variables that the document declares, and with the actions that its possibilities come from.

The canonical form keeps the order of pieces, sources, destinations and possibilities, because it is the order
of results; everything below a possibility is a set, and is sorted.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from ggn_store.errors import NotationError, quote
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.notation import json_text
from ggn_store.notation.hand import HAND
from ggn_store.notation.stn import Transition

Dialect = Literal["perform", "must-deny", "diff", "gdl"]
DIALECTS: Final[tuple[Dialect, ...]] = get_args(Dialect)


def check_dialect(dialect: str) -> Dialect:
    """`dialect`, if it is one; raises NotationError, quoting it, if it is not."""
    if dialect not in DIALECTS:
        raise NotationError(f"{quote(dialect)} is not a dialect: {', '.join(DIALECTS)}")
    return dialect


# The names that the dialects give to a possibility's conditions.
CONDITION_KEYS: Final[Mapping[Dialect, tuple[str, str]]] = {
    "perform": ("require", "prevent"),
    "must-deny": ("must", "deny"),
    "diff": ("must", "deny"),
    "gdl": ("must", "deny"),
}

EMPTY: Final = "empty"
ENEMY: Final = "enemy"

# A step is kept in every store.
MAX_STEP: Final = 1_000_000

Guards = Mapping[str, tuple[str, ...]]
# So many texts are kept of conditions, and of effects, that may come again.
_MOST_TEXTS: Final = 100_000
# One for all possibilities without any, of which a document can have millions.
_UNGUARDED: Final[Guards] = {}


@dataclass(frozen=True, slots=True)
class Origin:
    """The action that a possibility comes from.

    `step` counts from 1 the possibilities that the action gives for their entry. After a `chainable` one the same
    piece may go on within the turn.
    """

    action: str
    step: int = 1
    chainable: bool = False

    def data(self) -> dict[str, Any]:
        """The canonical JSON object of the origin."""
        return {"name": self.action, "step": self.step} | ({"chainable": True} if self.chainable else {})


@dataclass(frozen=True, slots=True)
class Possibility:
    """One object of a destination array: square -> state to hold, square -> state not to hold, and effects.

    A state is `empty`, `enemy` or a piece identifier. `effects` is None in the `must-deny` dialect only. `guards`
    (state variable -> the values that it may have, sorted, at least one) and `origin` are of the `gdl` dialect only.
    """

    must: Mapping[str, str] = field(default_factory=dict)
    deny: Mapping[str, str] = field(default_factory=dict)
    effects: Transition | None = None
    guards: Guards = field(default_factory=lambda: _UNGUARDED)
    origin: Origin | None = None

    def data(self, dialect: Dialect) -> dict[str, Any]:
        """The canonical JSON object of this possibility."""
        must, deny = CONDITION_KEYS[dialect]
        data: dict[str, Any] = {}
        if self.origin is not None:
            data["action"] = self.origin.data()
        if self.guards:
            data["when"] = {name: list(values) for name, values in sorted(self.guards.items())}
        if self.must:
            data[must] = dict(sorted(self.must.items()))
        if self.deny:
            data[deny] = dict(sorted(self.deny.items()))
        if self.effects is not None:
            data |= (
                {"perform": dict(sorted(self.effects.board.items()))}
                if dialect == "perform"
                else {"diff": self.effects.data()}
            )
        return data

    def named_state(self) -> Iterator[tuple[str, str]]:
        """Every state variable that the possibility names, with each value that it names of it."""
        for name, values in self.guards.items():
            for value in values:
                yield name, value
        if self.effects is not None:
            yield from self.effects.state.items()


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination square, or `*` for the hand, with its possibilities in document order."""

    square: str
    possibilities: tuple[Possibility, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A source square, or `*` for the hand, with its destinations in document order."""

    square: str
    destinations: tuple[Destination, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece identifier with its sources in document order."""

    identifier: str
    sources: tuple[Source, ...]

    def data(self, dialect: Dialect) -> dict[str, Any]:
        """The canonical JSON object of this piece's part of the document."""
        return {
            source.square: {
                destination.square: [possibility.data(dialect) for possibility in destination.possibilities]
                for destination in source.destinations
            }
            for source in self.sources
        }

    def digest(self, dialect: Dialect, board: Board) -> str:
        """SHA-256 of the canonical form with identifier, dialect and board: equal pieces have equal digests."""
        return Digests(dialect, board).of(self)

    def entries(self) -> Iterator[tuple[Source, Destination, int, Possibility]]:
        """Every possibility with where it stands, in document order; the number is its ordinal."""
        for source in self.sources:
            for destination in source.destinations:
                for ordinal, possibility in enumerate(destination.possibilities):
                    yield source, destination, ordinal, possibility

    @property
    def possibilities(self) -> int:
        """How many possibilities the piece has."""
        return sum([len(destination.possibilities) for source in self.sources for destination in source.destinations])

    @property
    def conditions(self) -> int:
        """How many conditions the piece's possibilities have."""
        return sum(
            [
                len(possibility.must) + len(possibility.deny)
                for source in self.sources
                for destination in source.destinations
                for possibility in destination.possibilities
            ]
        )

    def squares(self) -> set[str]:
        """Every square that the piece's rules name."""
        named = {source.square for source in self.sources}
        for source in self.sources:
            for destination in source.destinations:
                named.add(destination.square)
                for possibility in destination.possibilities:
                    named.update(possibility.must)
                    if possibility.deny:
                        named.update(possibility.deny)
                    if possibility.effects is not None:
                        named.update(possibility.effects.board)
        return named

    def pieces(self) -> set[str]:
        """Every piece that the piece's rules name, itself among them."""
        named: set[str | None] = {self.identifier}
        for _, _, _, possibility in self.entries():
            named.update(possibility.must.values(), possibility.deny.values())
            if possibility.effects is not None:
                named.update(possibility.effects.board.values(), possibility.effects.hands)
        return {each for each in named if each is not None} - {EMPTY, ENEMY}


@dataclass(frozen=True, slots=True)
class Envelope:
    """What is kept of a ruleset beside its pieces.

    `schema` is the document's `$schema`. `title`, `source` (who says so) and `start` (the start position in
    FEEN, or in JSON where FEEN cannot write the board) come from beside the document. `board` is the declared board's
    shape, None where none was declared.
    `definition` is the text of the definition (TOML) that the document was generated from, or of the game description
    (JSON) that one of the dialect `gdl` was compiled from. `variables` is the
    canonical text of the document's `$state` (`model.documents.variables` reads it), `play` that of how it is played
    (`model.moves.play`). Those three are left out where a value is shown.
    """

    schema: str | None = None
    title: str | None = None
    source: str | None = None
    start: str | None = None
    board: str | None = None
    definition: str | None = field(default=None, repr=False)
    variables: str | None = field(default=None, repr=False)
    play: str | None = field(default=None, repr=False)

    @property
    def is_described(self) -> bool:
        """Whether the text of `definition` is a game description, which is JSON, and no definition in TOML."""
        return self.definition is not None and self.definition.lstrip().startswith("{")

    def data(self) -> dict[str, str]:
        """The values that are there, as JSON data."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class Document:
    """A valid GGN document: a dialect and pieces in document order.

    `made_from` is the text of the definition or game description that it was made from here, which nobody need read
    again.
    """

    dialect: Dialect
    pieces: tuple[Piece, ...]
    envelope: Envelope = field(default_factory=Envelope)
    made_from: str | None = field(default=None, compare=False, repr=False)

    @functools.cached_property
    def board(self) -> Board:
        """The declared board, else the one around the squares that the document names."""
        if self.envelope.board is not None:
            return boards.parse_shape(self.envelope.board)
        return boards.around(set().union(*(piece.squares() for piece in self.pieces)) - {HAND})

    @functools.cached_property
    def piece_digests(self) -> tuple[str, ...]:
        """The digest of each piece, in document order."""
        return tuple(map(Digests(self.dialect, self.board).of, self.pieces))

    @property
    def digest(self) -> str:
        """SHA-256 over the ordered piece digests, the board, the dialect and the envelope."""
        return revision_digest(self.dialect, self.board, self.envelope, self.piece_digests)

    @property
    def possibilities(self) -> int:
        """How many possibilities the document has."""
        return sum(piece.possibilities for piece in self.pieces)

    @property
    def conditions(self) -> int:
        """How many conditions the document's possibilities have."""
        return sum(piece.conditions for piece in self.pieces)

    def data(self) -> dict[str, Any]:
        """The canonical document as JSON data."""
        schema = {} if self.envelope.schema is None else {"$schema": self.envelope.schema}
        declared = {"$state": json.loads(self.envelope.variables or "{}")} if self.dialect == "gdl" else {}
        return schema | declared | {piece.identifier: piece.data(self.dialect) for piece in self.pieces}

    def canonical(self) -> str:
        """The canonical text: one possibility a line, so that versions compare line by line."""
        return "".join(self.canonical_parts())

    def canonical_parts(self) -> Iterator[str]:
        """The canonical text piece by piece, for writing large documents without holding them twice."""
        yield from canonical_text(self.dialect, self.envelope.schema, self.pieces, self.envelope.variables)


def revision_digest(dialect: Dialect, board: Board, envelope: Envelope, piece_digests: Iterable[str]) -> str:
    """SHA-256 over the ordered piece digests, the board, the dialect and the envelope."""
    return json_text.digest([dialect, board.digest, envelope.data(), list(piece_digests)])


def canonical_text(
    dialect: Dialect, schema: str | None, pieces: Iterable[Piece], variables: str | None = None
) -> Iterator[str]:
    """The canonical text of a document in parts, one part a piece; `variables` is that of its `$state`.

    A document of the dialect `gdl` always says what its state is, so that it is known for one when it is read again.
    """
    before = "{\n"
    if schema is not None:
        yield f'{before} "$schema":{json_text.compact(schema)}'
        before = ",\n"
    if dialect == "gdl":
        yield f'{before} "$state":{variables or "{}"}'
        before = ",\n"
    for piece in pieces:
        sources = []
        for source in piece.sources:
            destinations = []
            for destination in source.destinations:
                lines = ",\n".join(f"    {json_text.compact(each.data(dialect))}" for each in destination.possibilities)
                destinations.append(f"   {json_text.compact(destination.square)}:[\n{lines}\n   ]")
            sources.append(f"  {json_text.compact(source.square)}:{{\n" + ",\n".join(destinations) + "\n  }")
        yield f"{before} {json_text.compact(piece.identifier)}:{{\n" + ",\n".join(sources) + "\n }"
        before = ",\n"
    yield "\n}\n"


class Digests:
    """Digests of pieces that all live on: conditions and effects that are one object are written once.

    What is digested is the JSON text of dialect, board, identifier and `Piece.data`, which would be slow to make.
    """

    def __init__(self, dialect: Dialect, board: Board) -> None:
        self._before = f"[{json_text.compact(dialect)},{json_text.compact(board.digest)},"
        self._keys = tuple(f"{json_text.compact(key)}:" for key in CONDITION_KEYS[dialect])
        self._dialect: Dialect = dialect
        self._board, self._ends = ('"perform":{', "}") if dialect == "perform" else ('"diff":{"board":{', "}}")
        self._strings = _Strings()
        self._pairs = _Pairs()
        self._must: dict[int, str] = {}
        self._deny: dict[int, str] = {}
        self._effects: dict[int, str] = {}

    def of(self, piece: Piece) -> str:
        """The digest of a piece."""
        if self._dialect == "gdl":
            return self._of_gdl(piece)
        strings, all_must, all_deny, all_effects = self._strings, self._must, self._deny, self._effects
        sha256 = hashlib.sha256(f"{self._before}{strings[piece.identifier]},{{".encode())
        comma = ""
        for source in piece.sources:
            destinations = []
            for destination in source.destinations:
                texts = []
                for each in destination.possibilities:
                    must, deny, effects = each.must, each.deny, each.effects
                    text = ""
                    if must:
                        text = all_must.get(id(must)) or self._states(all_must, 0, must)
                    if deny:
                        text += all_deny.get(id(deny)) or self._states(all_deny, 1, deny)
                    if effects is None:
                        text = text[:-1]
                    else:
                        text += all_effects.get(id(effects)) or self._changes(effects)
                    texts.append(f"{{{text}}}")
                destinations.append(f"{strings[destination.square]}:[{','.join(texts)}]")
            sha256.update(f"{comma}{strings[source.square]}:{{{','.join(destinations)}}}".encode())
            comma = ","
        sha256.update(b"}]")
        return sha256.hexdigest()

    def _of_gdl(self, piece: Piece) -> str:
        """The digest of a piece, of which only a destination is a text at a time."""
        found = hashlib.sha256(f"{self._before}{self._strings[piece.identifier]},".encode())
        before = "{"
        for source in piece.sources:
            before += f"{self._strings[source.square]}:{{"
            for destination in source.destinations:
                said = json_text.compact([each.data("gdl") for each in destination.possibilities])
                found.update(f"{before}{self._strings[destination.square]}:{said}".encode())
                before = ","
            before = "},"
        found.update(b"}}]" if piece.sources else b"{}]")
        return found.hexdigest()

    def of_text(self, identifier: str, sources: bytes) -> str:
        """The digest of a piece from the JSON of its sources, without the braces around it."""
        found = hashlib.sha256(f"{self._before}{self._strings[identifier]},{{".encode())
        found.update(sources)
        found.update(b"}]")
        return found.hexdigest()

    def _members(self, board: str, hands: str, toggle: bool | None) -> str:
        """Effects as a member; nothing where there are none."""
        if toggle and not hands and board:  # as most
            return f"{self._board}{board}{self._ends}"
        if toggle is None:
            return ""
        if self._dialect == "perform":
            return f'"perform":{{{board}}}'
        parts = [f'"{name}":{{{each}}}' for name, each in (("board", board), ("hands", hands)) if each]
        return f'"diff":{{{",".join(parts if toggle else [*parts, _TURN_STAYS])}}}'

    def _states(self, known: dict[int, str], polarity: int, states: Mapping[str, str]) -> str:
        """Conditions as a member, with the comma that comes after it."""
        return _kept(known, states, f"{self._keys[polarity]}{{{self._listed(states)}}},")

    def _changes(self, effects: Transition) -> str:
        """Effects as a member."""
        text = self._members(self._listed(effects.board), self._listed(effects.hands), effects.toggle)
        return _kept(self._effects, effects, text)

    def _listed(self, members: Mapping[str, str | int | None]) -> str:
        return ",".join(map(self._pairs.__getitem__, sorted(members.items())))


_TURN_STAYS: Final = '"toggle":false'


@functools.cache
def texts_around(dialect: Dialect, toggle: bool | None) -> Sequence[Sequence[str]]:
    """The texts around the members of a possibility: action, guards, `must`, `deny`, changes of squares, hands, state.

    They come before each of these and after the last, for each number whose bits say, in this order, which there are.
    """
    found = []
    for bits in range(1 << len(_PLACES)):

        def of(at: int, value: Any, bits: int = bits) -> dict[str, Any]:
            return {chr(at): value} if bits >> at & 1 else {}

        effects = None if toggle is None else Transition(of(4, ""), of(5, ""), toggle, of(6, ""))
        possibility = Possibility(of(2, ""), of(3, ""), effects, of(1, ()), Origin("\0") if bits & 1 else None)
        rest, texts = json_text.compact(possibility.data(dialect)), []
        for at, place in enumerate(_PLACES):
            before, _, rest = rest.partition(place) if bits >> at & 1 else ("", "", rest)
            texts.append(before)
        found.append([*texts, rest])
    return found


# Stand for members in a text; of guards, without the bracket that ends the last.
_PLACES: Final = ('"name":"\\u0000","step":1', '"\\u0001":[', *(f'"\\u000{at}":""' for at in range(2, 7)))
# Of how many kinds they are.
MEMBERS: Final = len(_PLACES)


class _Strings(dict[str | None, str]):
    """Text and null -> their JSON, each made once."""

    def __missing__(self, value: str | None) -> str:
        return self.setdefault(value, json_text.compact(value))


class _Pairs(dict[tuple[str, str | int | None], str]):
    """A key with its value -> the two as a member of an object, each made once."""

    def __missing__(self, pair: tuple[str, str | int | None]) -> str:
        return self.setdefault(pair, ":".join(map(json_text.compact, pair)))


def _kept(known: dict[int, str], each: object, text: str) -> str:
    """The text of an object, kept for when it comes again, while there are not too many of them."""
    if len(known) < _MOST_TEXTS:
        known[id(each)] = text
    return text


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
