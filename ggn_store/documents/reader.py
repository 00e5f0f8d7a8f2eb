"""Decoded JSON -> Document, level by level, collecting everything that is wrong on the way; `grammar` has the keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from ggn_store import limits
from ggn_store.documents import quick
from ggn_store.documents.grammar import (
    ALL_KEYS,
    GDL_DIFF_KEYS,
    GDL_KEYS,
    GRAMMARS,
    OTHER_KEYS,
    OTHER_VERSIONS,
    PERFORM_KEYS,
    SCHEMA_KEY,
    STATE_KEY,
    TOP_KEYS,
    Grammar,
    GrammarKeys,
    ValueShape,
    names,
)
from ggn_store.documents.state_reader import StateReader
from ggn_store.errors import UNSTORABLE, NotationError, PositionError, Problem, did_you_mean
from ggn_store.model.documents import board as boards
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import (
    EMPTY,
    ENEMY,
    Destination,
    Dialect,
    Document,
    Envelope,
    Piece,
    Possibility,
    Source,
)
from ggn_store.model.documents.variables import Variable
from ggn_store.model.moves import play, play_text
from ggn_store.model.moves.position import Position
from ggn_store.notation import cell, json_text, stn
from ggn_store.notation.complaints import NOTHING, Complaints
from ggn_store.notation.hand import HAND
from ggn_store.notation.json_text import pointer
from ggn_store.notation.stn import Transition


class DocumentReader:
    """One pass over decoded JSON: makes the values and collects complaints."""

    def __init__(self, dialect: Dialect | None, envelope: Envelope, copy: bool, whole: bool = True) -> None:
        """`whole` is false for a part of a document, which may name variables that another part declares."""
        self.complaints = Complaints()
        self.beside = Complaints()  # what was given with the document
        self._whole = whole
        self._state = StateReader(self.complaints, whole)
        self._forced = dialect
        self._grammar: Grammar = GRAMMARS[dialect or "must-deny"]
        self._because: json_text.Path = ()
        self._envelope = envelope
        self._copy = copy
        self._board: boards.Board | None = None
        self._squares: dict[Any, bool] = {}
        self._pieces: dict[Any, bool] = {}
        self._count = 0
        self._played = play.Play()
        self._start: set[str] = set()
        self._begun: Mapping[str, str] = {}

    def document(self, value: Any) -> Document | None:
        """The document, or None where there is something to complain about."""
        self._check_envelope()
        if not isinstance(value, Mapping):
            self.complaints.add((), "a document is an object of pieces", value, "an object")
            return None
        schema = value.get(SCHEMA_KEY)
        if SCHEMA_KEY in value and not _is_text(schema):
            self.complaints.add(
                (SCHEMA_KEY,), "$schema is not an address", schema, "a string (no NUL, no lone surrogate)"
            )
        members = {piece: sources for piece, sources in value.items() if piece not in TOP_KEYS}
        if not members:
            self.complaints.add((), "the document has no piece in it", NOTHING, "at least one piece")
        self._check_count(limits.PIECES, len(members))
        if len(members) > limits.PIECES.most:
            return None  # what may be wrong with each of them would take long to find
        mixed = self._detect(members, STATE_KEY in value)
        declared = self._declared(value[STATE_KEY]) if STATE_KEY in value else None
        pieces = tuple(self._piece(piece, sources, mixed) for piece, sources in members.items())
        self._check_counts()
        self._check_begun()
        self._check_play(pieces)
        if self.complaints or self.beside:
            return None
        return Document(self._grammar.dialect, pieces, self._enveloped(schema, declared))

    def quick_document(self, value: Any) -> Document | None:
        """The document, or None where there may be something to complain about, which only `document` does.

        `value` came from JSON text, and may be too deep.
        """
        self._check_envelope()
        if self.beside or type(value) is not dict:
            return None
        schema = value.get(SCHEMA_KEY)
        if SCHEMA_KEY in value and not _is_text(schema):
            return None
        members = {piece: sources for piece, sources in value.items() if piece not in TOP_KEYS}
        self._grammar = GRAMMARS[self._forced or ("gdl" if STATE_KEY in value else quick.dialect_of(members))]
        declared = self._declared(value[STATE_KEY]) if STATE_KEY in value else None
        if self.complaints or self.beside:
            return None
        known = self._state.known if self._whole else None
        pieces = quick.pieces(members, self._grammar, self._is_piece, self._knows_square, known)
        self._count = sum(piece.possibilities for piece in pieces)
        self._check_count(limits.PIECES, len(pieces))
        self._check_counts()
        self._check_begun()
        self._check_play(pieces)
        if self.complaints or self.beside or not pieces:
            return None
        document = Document(self._grammar.dialect, pieces, self._enveloped(schema, declared))
        # The squares were all looked at: the document need not look for them again.
        vars(document)["board"] = self._board or boards.around(self._squares)
        return document

    def _enveloped(self, schema: str | None, declared: list[Variable] | None) -> Envelope:
        envelope = self._envelope if schema is None else replace(self._envelope, schema=schema)
        return envelope if declared is None else replace(envelope, variables=variables.text(declared))

    # --- the document as a whole ---

    def _check_envelope(self) -> None:
        envelope = self._envelope
        for name in ("title", "source", "definition"):
            text = getattr(envelope, name)
            if text is not None and not _is_text(text):
                self.beside.add((name,), f"the {name} given with the document is not text", text, "a string")
        for key, check in (("board", self._check_board), ("start", self._check_start), ("play", self._check_declared)):
            try:
                check(envelope)
            except (NotationError, PositionError) as error:
                self.beside.add((key,), f"what was given with the document does not fit: {error}")
        try:
            declared = variables.parse(envelope.variables)
            self._state.known = {each.name: frozenset(each.values) for each in declared.values()}
        except NotationError as error:
            self.beside.add((), f"what was given with the document does not fit: {error}")

    def _check_board(self, envelope: Envelope) -> None:
        if envelope.board is not None:
            self._board = boards.parse_shape(envelope.board)

    def _check_start(self, envelope: Envelope) -> None:
        if envelope.start is None:
            return
        start = Position.from_text(envelope.start)
        self._start = {*filter(None, start.board.values()), *(start.hands or {})}
        self._begun = start.state or {}
        if self._board and (outside := set(start.board) - set(self._board.squares)):
            self.beside.add(("start",), "the start position has pieces off the board", sorted(outside), "its squares")

    def _check_declared(self, envelope: Envelope) -> None:
        self._played = played = play_text.parse(envelope.play)
        if self._board and (outside := played.squares() - set(self._board.squares)):
            message = "how the game is played names squares off the board"
            self.beside.add(("play",), message, sorted(outside), "its squares")

    def _detect(self, members: Mapping[Any, Any], has_state: bool) -> bool:
        """Settle the dialect by the keys that possibilities have; whether the document mixes dialects."""
        first: dict[str, json_text.Path] = {}
        in_diff: json_text.Path | None = None
        for path, possibility in _possibilities(members):
            for key in possibility:
                if isinstance(key, str) and key not in first:
                    first[key] = path
            if in_diff is None and isinstance(diff := possibility.get("diff"), Mapping):
                in_diff = next(((*path, "diff", key) for key in GDL_DIFF_KEYS if key in diff), None)
        if self._forced is not None:
            return False
        marks = [(*first[key], key) for key in GDL_KEYS if key in first]
        marks += [mark for mark in (in_diff, (STATE_KEY,) if has_state else None) if mark is not None]
        found = {keys: next((key for key in first if key in keys), None) for keys in (PERFORM_KEYS, OTHER_KEYS)}
        perform, other = found.values()
        dialect: Dialect = "gdl" if marks else "diff" if "diff" in first else "must-deny"
        if perform is not None and other is not None:
            # The first key that is met decides.
            earlier, later = [key for key in first if key in (perform, other)]
            self._grammar = GRAMMARS["perform" if earlier == perform else dialect]
            self.complaints.add(
                (*first[later], later),
                f"the document mixes dialects: {later} stands here, "
                f"and {earlier} of another dialect at {pointer((*first[earlier], earlier))}",
                later,
                ", ".join(names(self._grammar.possibility)),
                at_key=True,
            )
            return True
        self._grammar = GRAMMARS["perform" if perform else dialect]
        key = self._grammar.effects or "diff"
        if marks and not perform:
            self._because = marks[0]
        else:
            self._because = (*first.get(key, first[perform] if perform else ()), key)
        return False

    def _declared(self, value: Any) -> list[Variable]:
        """The variables that a document declares."""
        if self._grammar.has_state:
            return self._state.declared(value)
        message = f"{STATE_KEY} declares the variables of another dialect than {self._grammar.dialect}"
        self.complaints.add((STATE_KEY,), message, STATE_KEY, "piece identifiers", at_key=True)
        return []

    def _check_begun(self) -> None:
        """Compare the state of the start position with the variables; a part of a document may not declare all."""
        for message, found, allowed in variables.strange_start(self._state.known, self._begun) if self._whole else ():
            self.beside.add(("start",), message, found, allowed)

    def _check_play(self, pieces: Iterable[Piece]) -> None:
        """Compare how the game is played with all that the document names; a part of one may not name all."""
        played = self._played
        if not self._whole or played == play.Play():
            return
        named = (*filter(self._is_piece, self._pieces), *self._start)
        for message, found, allowed in play_text.strange_names(played, named, pieces):
            self.beside.add(("play",), message, found, allowed)
        places = {square for square, is_square in self._squares.items() if is_square}
        if self._envelope.board is None and (elsewhere := played.squares() - places):
            message = "how the game is played names squares that the document does not"
            self.beside.add(("play",), message, sorted(elsewhere), "squares of the document, or of a declared board")

    def _check_counts(self) -> None:
        self._check_count(limits.POSSIBILITIES, self._count)
        self._check_count(limits.SQUARES, len(self._squares))

    def _check_count(self, limit: limits.Limit, count: int) -> None:
        if count > limit.most:
            self.complaints.add((), f"the document has too many {limit.unit}", count, limit.allowed)

    # --- level by level ---

    def _piece(self, piece: Any, sources: Any, mixed: bool) -> Piece:
        self._check_piece(piece, (piece,), at_key=True)
        result: list[Source] = []
        if _is_too_long(piece):
            return Piece(piece, ())
        for source, destinations in self._members(sources, (piece,), "a piece", "sources"):
            self._check_location(source, (piece, source))
            if _is_too_long(source):
                continue
            result.append(Source(source, tuple(self._destinations(piece, source, destinations, mixed))))
        return Piece(piece, tuple(result))

    def _destinations(self, piece: Any, source: Any, destinations: Any, mixed: bool) -> Iterator[Destination]:
        for destination, possibilities in self._members(destinations, (piece, source), "a source", "destinations"):
            path = (piece, source, destination)
            self._check_location(destination, path)
            if _is_too_long(destination):
                continue
            if source == HAND == destination:
                self.complaints.add(path, "a move from the hand to the hand", HAND, "a square", at_key=True)
            if not isinstance(possibilities, list | tuple):
                self.complaints.add(path, "a destination holds an array of possibilities", possibilities, "an array")
                continue
            if not possibilities:
                self.complaints.add(
                    path, "the destination has no possibility in it", possibilities, "at least one object"
                )
            self._count += len(possibilities)
            yield Destination(
                destination,
                tuple(
                    self._possibility(piece, source, (*path, ordinal), possibility, mixed)
                    for ordinal, possibility in enumerate(possibilities)
                ),
            )

    def _members(self, value: Any, path: json_text.Path, name: str, inside: str) -> Iterator[tuple[Any, Any]]:
        if not isinstance(value, Mapping):
            self.complaints.add(path, f"{name} holds an object of {inside}", value, "an object")
            return
        if not value:
            self.complaints.add(path, f"{name} has no {inside} in it", value, f"at least one of its {inside}")
        yield from value.items()

    def _possibility(self, piece: Any, source: Any, path: json_text.Path, value: Any, mixed: bool) -> Possibility:
        if not isinstance(value, Mapping):
            self.complaints.add(path, "a possibility is an object", value, "an object")
            return Possibility()
        keys = self._grammar.possibility
        if mixed and any(key in (*PERFORM_KEYS, *OTHER_KEYS) and key not in names(keys) for key in value):
            return Possibility()  # the mixture is one problem, named once with both its places
        found = self._values(value, path, "a possibility", keys)
        must_key, deny_key = self._grammar.conditions
        must, deny = found.get(must_key, {}), found.get(deny_key, {})
        if must.get(source) == piece:
            message = f"{must_key} restates that the piece stands on its source, which is implied"
            self.complaints.add((*path, must_key, source), message, piece, "other conditions only")
        for square in must.keys() & deny.keys():
            if must[square] == deny[square]:
                message = f"{deny_key} forbids what {must_key} demands of the same square"
                self.complaints.add((*path, deny_key, square), message, deny[square], "a different state, or no entry")
        effects = found.get(self._grammar.effects or "")
        if self._grammar.effects == "perform":
            effects = Transition(effects or {})
        return Possibility(must, deny, effects, found.get("when", {}), found.get("action"))

    def _values(self, value: Mapping[str, Any], path: json_text.Path, what: str, keys: GrammarKeys) -> dict[str, Any]:
        """What stands under each key of an object."""
        allowed = names(keys)
        for name in value:
            if name not in allowed and not isinstance(name, json_text.Twin):
                self._complain_key((*path, name), name, what, allowed)
        found = {}
        for key in keys:
            if key.name in value:
                found[key.name] = _READERS[key.shape](self, value[key.name], (*path, key.name))
            elif key.is_required:
                reason = self._dialect_reason(key.name)
                self.complaints.add(path, f"{key.name} is missing{reason}", NOTHING, key.name)
        return found

    def _conditions(self, value: Any, path: json_text.Path) -> Mapping[str, str]:
        if not isinstance(value, Mapping):
            self.complaints.add(path, "conditions are an object of squares and states", value, "an object")
            return {}
        if not value and not self._grammar.takes_empty:
            self.complaints.add(path, "the conditions are empty", value, "at least one condition, or leave the key out")
        for square, state in value.items():
            if square == HAND:
                self.complaints.add(
                    (*path, square), "a condition on the hand", square, "a condition on a square", at_key=True
                )
            else:
                self._check_square(square, (*path, square))
            if state in (EMPTY, ENEMY) and isinstance(state, str):
                continue
            if not self._is_piece(state):
                message = f"a state that GGN does not know{self._hint(state, (EMPTY, ENEMY))}"
                self.complaints.add((*path, square), message, state, f"empty, enemy or {self._grammar.identifiers}")
        return cast(Mapping[str, str], dict(value) if self._copy else value)

    def _diff(self, diff: Any, path: json_text.Path) -> Transition | None:
        if not isinstance(diff, Mapping):
            self.complaints.add(path, "diff is not an object", diff, "an object")
            return None
        return Transition(**self._values(diff, path, "a diff", self._grammar.diff))

    def _flag(self, value: Any, path: json_text.Path) -> bool:
        if not isinstance(value, bool):
            self.complaints.add(path, f"{path[-1]} says whether the turn passes", value, "true or false")
        return bool(value)

    def _board_effects(self, value: Any, path: json_text.Path) -> Mapping[str, str | None]:
        name = "perform" if path[-1] == "perform" else "diff.board"
        if not isinstance(value, Mapping):
            self.complaints.add(path, f"{name} is not an object of squares and pieces", value, "an object")
            return {}
        if not value and not self._grammar.takes_empty:
            self.complaints.add(path, f"{name} is empty", value, "at least one square and what becomes of it")
        for square, piece in value.items():
            self._check_square(square, (*path, square))
            if piece is not None:
                self._check_piece(piece, (*path, square), or_null=True)
        return cast(Mapping[str, str | None], dict(value) if self._copy else value)

    def _hand_effects(self, value: Any, path: json_text.Path) -> Mapping[str, int]:
        if not isinstance(value, Mapping):
            self.complaints.add(path, "diff.hands is not an object of pieces and counts", value, "an object")
            return {}
        hands = {}
        for piece, delta in value.items():
            self._check_piece(piece, (*path, piece), at_key=True)
            if stn.is_delta(delta):
                hands[piece] = int(delta)
            else:
                allowed = f"-{stn.MAX_HAND_DELTA:,} to {stn.MAX_HAND_DELTA:,} without 0"
                self.complaints.add((*path, piece), "a hand changes by a whole number other than 0", delta, allowed)
        return hands

    # --- identifiers and squares ---

    def _is_piece(self, piece: Any) -> bool:
        if not isinstance(piece, str):
            return False
        known = self._pieces.get(piece)
        if known is None:
            known = self._pieces[piece] = self._grammar.is_identifier(piece)
        return known

    def _check_piece(self, piece: Any, path: json_text.Path, at_key: bool = False, or_null: bool = False) -> None:
        if not self._is_piece(piece):
            allowed = self._grammar.identifiers + (", or null" if or_null else "")
            self.complaints.add(path, "not a piece identifier of this dialect", piece, allowed, at_key)

    def _check_location(self, square: Any, path: json_text.Path) -> None:
        if square == HAND and self._grammar.has_hands:
            return
        self._check_square(square, path)

    def _check_square(self, square: Any, path: json_text.Path) -> None:
        if isinstance(square, str) and self._knows_square(square):
            return
        allowed = f"a CELL label such as e4 or a1A, of at most {limits.LABEL.default} characters"
        if self._grammar.has_labels:
            allowed = f"any label of 1 to {limits.LABEL.default} characters other than * (no NUL, no lone surrogate)"
        if square == HAND:
            message = "the hand has no place here" if self._grammar.has_hands else "this dialect knows no hands"
        elif isinstance(square, str) and self._board is not None and self._may_be_square(square):
            message = f"the square is outside the declared board of {self._board.shape_text}"
            allowed = f"a square from {self._board.squares[0]} to {self._board.squares[-1]}"
        else:
            message = "not a square"
        self.complaints.add(path, message, square, allowed, at_key=True)

    def _knows_square(self, square: str) -> bool:
        known = self._squares.get(square)
        if known is None:
            known = self._squares[square] = self._is_square(square)
        return known

    def _is_square(self, square: str) -> bool:
        return self._may_be_square(square) and (self._board is None or square in self._board.numbers)

    def _may_be_square(self, square: str) -> bool:
        if self._grammar.has_labels:
            return 0 < len(square) <= limits.LABEL.default and square != HAND and not UNSTORABLE.search(square)
        return cell.is_cell(square)

    # --- complaining ---

    def _dialect_reason(self, key: str) -> str:
        if self._forced is not None:
            return f", which the dialect {self._grammar.dialect} demands"
        return f", which makes the dialect {self._grammar.dialect} at {pointer(self._because)}"

    def _hint(self, name: Any, names: Iterable[str]) -> str:
        return "" if self.complaints.is_full else did_you_mean(name, names)

    def _complain_key(self, path: json_text.Path, key: Any, where: str, allowed: tuple[str, ...]) -> None:
        message = f"{where} has no such key{self._hint(key, (*allowed, *sorted(ALL_KEYS)))}"
        if key in OTHER_VERSIONS:
            message = f"{key} is a key of {OTHER_VERSIONS[key]}"
        elif key in ALL_KEYS:
            message = f"{key} is a key of another dialect than {self._grammar.dialect}"
        self.complaints.add(path, message, key, ", ".join(allowed), at_key=True)


def _possibilities(members: Mapping[Any, Any]) -> Iterator[tuple[json_text.Path, Mapping[Any, Any]]]:
    """Every possibility of a document that may be malformed anywhere, with its path."""
    for piece, sources in members.items():
        for source, destinations in sources.items() if isinstance(sources, Mapping) else ():
            for destination, possibilities in destinations.items() if isinstance(destinations, Mapping) else ():
                for ordinal, each in enumerate(possibilities if isinstance(possibilities, list | tuple) else ()):
                    if isinstance(each, Mapping):
                        yield (piece, source, destination, ordinal), each


def _is_too_long(key: object) -> bool:
    # Nothing is said about what is below: every message would repeat the key in its pointer.
    return isinstance(key, str) and len(key) > limits.LABEL.default


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not UNSTORABLE.search(value)


# What reads a value of each shape that a possibility or a diff has; `StateReader` reads those inside of the others.
_READERS: Final[Mapping[ValueShape, Callable[[DocumentReader, Any, json_text.Path], Any]]] = {
    "conditions": DocumentReader._conditions,
    "board": DocumentReader._board_effects,
    "diff": DocumentReader._diff,
    "hands": DocumentReader._hand_effects,
    "flag": DocumentReader._flag,
    "state": lambda reader, value, path: reader._state.effects(value, path),
    "guards": lambda reader, value, path: reader._state.guards(value, path),
    "action": lambda reader, value, path: reader._state.origin(value, path),
}


def envelope_complaints(envelope: Envelope) -> list[Problem]:
    """What is wrong with what comes beside a document's pieces."""
    reader = DocumentReader(None, envelope, copy=False)
    reader._check_envelope()
    schema = envelope.schema
    if schema is not None and not _is_text(schema):
        reader.beside.add((SCHEMA_KEY,), "the $schema is not an address", schema, "a string")
    return reader.beside
