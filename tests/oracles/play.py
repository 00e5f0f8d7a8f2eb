"""Games as they are played: a definition's moves without those that its host duties forbid, in plain Python.

`legal` is what `moves` of a store would be after the host has done its duties (`Definition.host`, whose words are in
`ggn_store.model.moves.play`). Nothing here asks a database; moves have the names that Fairy-Stockfish gives
them, so that they can be compared.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ggn_store import Position
from ggn_store.games import spares
from ggn_store.games.definition import read
from ggn_store.games.fen import fen, parse_fen
from ggn_store.games.generate import Writer
from ggn_store.games.rules import SIDES, Castling, Definition, Form
from ggn_store.model.documents.document import Possibility
from ggn_store.notation import cell, feen
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, other_side, side_of
from ggn_store.notation.stn import Transition

Board = Mapping[str, str]
NOTHING = "0000"
"""The name of the move that only passes the turn, which the engine says of any piece."""


@dataclass(frozen=True)
class Choice:
    """A move that the rules allow, with the position after it."""

    piece: str
    source: str
    destination: str
    possibility: Possibility
    after: Position

    @property
    def board(self) -> Mapping[str, str | None]:
        """What the move puts where."""
        assert self.possibility.effects is not None
        return self.possibility.effects.board


class Game:
    """A game of a definition; its possibilities are generated where a position first asks for them."""

    def __init__(self, game: str | Definition, file: str | None = None) -> None:
        self.definition = read(game, file) if isinstance(game, str) else game
        self.host = frozenset(self.definition.host)
        self.forms: dict[str, Form] = {}
        self._writers = {side: Writer(self.definition, side) for side in SIDES}
        for writer in self._writers.values():
            self.forms |= {form.identifier: form for form in writer.own.forms}
        self.terminal = {identifier for identifier, form in self.forms.items() if form.piece.terminal}
        start = None if self.definition.start is None else feen.parse(self.definition.start)
        self.start = [] if start is None else [*start.board.values(), *Counter(start.hands).elements()]
        self.about = {each.name: each for each in spares.variables(self.definition)}
        self._rules: dict[tuple[str, str], list[tuple[str, Possibility]]] = {}
        self._captures: dict[tuple[str, str], dict[str, list[Possibility]]] = {}

    def parse(self, text: str) -> Position:
        """The position of a FEN."""
        return parse_fen(text, self.definition)

    def fen(self, position: Position) -> str:
        """The FEN of a position; the engine writes Shredder-FEN where kings castle from several squares."""
        return fen(position, self.definition, shredder=True)

    # --- moves ---

    def rules(self, piece: str, source: str) -> list[tuple[str, Possibility]]:
        """Where a piece can go from a square or the hand, with the possibilities of going there."""
        known = self._rules.get((piece, source))
        if known is None:
            form = self.forms.get(piece)
            found = () if form is None else self._writers[form.side].destinations(form, source)
            known = [(each.square, possibility) for each in found for possibility in each.possibilities]
            self._rules[piece, source] = known
        return known

    def moves(self, position: Position) -> Iterator[Choice]:
        """The pseudo-legal moves: what the store answers, as tests/oracles/reference.py judges conditions."""
        side = position.side
        held = [(piece, HAND) for piece, count in (position.hands or {}).items() if count > 0]
        placed = [(piece, square) for square, piece in position.board.items() if piece is not None]
        for piece, source in itertools.chain(placed, held):
            if side_of(piece) == side:
                for destination, possibility in self.rules(piece, source):
                    if self._holds(possibility, position.board, side):
                        assert possibility.effects is not None
                        after = position.after(possibility.effects)
                        yield Choice(piece, source, destination, possibility, after)

    def may_stand(self, piece: str, square: str) -> bool:
        """Whether a piece that blasts spare can come to stand on a square, so that the rules ask for it there."""
        squares = [each.square for each in self.about.values() if piece in each.pieces]
        return square in squares or not squares

    def _holds(self, possibility: Possibility, board: Mapping[str, str | None], side: Side) -> bool:
        """Conditions as tests/oracles/reference.py judges them (a test holds the two together), without its detours."""
        must, deny = possibility.must, possibility.deny
        about = ((self.about[name], values) for name, values in possibility.guards.items())
        return (
            all(("yes" if board.get(str(each.square)) in each.pieces else "no") in values for each, values in about)
            and all(_is_in(board.get(square), state, side) for square, state in must.items())
            and not any(_is_in(board.get(square), state, side) for square, state in deny.items())
        )

    def legal(self, position: Position) -> dict[str, Choice]:
        """The moves that the host lets pass, by their names in Fairy-Stockfish."""
        position = self.unmarked(position)
        found = [move for move in self.moves(position) if self._is_allowed(position, move)]
        allowed = {self.name(move) + self._lost(move): move for move in found}
        if "mandatory-drop" in self.host:
            [tokens] = (each.pieces for each in self.definition.said.duties if each.name == "mandatory-drop")
            drops = {
                name: move
                for name, move in allowed.items()
                if move.source == HAND and (not tokens or self.forms[move.piece].piece.token in tokens)
            }
            allowed = drops or allowed
        if "mandatory-capture" in self.host:
            captures = {name: move for name, move in allowed.items() if _takes(position, move)}
            return captures or allowed
        if "forced-pass" in self.host and not allowed and self._passes(position):
            return {NOTHING: self._nothing(position)}
        return allowed

    def _passes(self, position: Position) -> bool:
        """forced-pass: there is a piece, and the other side has a move."""
        if not any(piece and side_of(piece) == position.side for piece in position.board.values()):
            return False
        other = self.unmarked(self._nothing(position).after)
        return any(self._is_allowed(other, move) for move in self.moves(other))

    def _nothing(self, position: Position) -> Choice:
        return Choice("", "", "", Possibility({}, {}, Transition()), position.after(Transition()))

    def unmarked(self, position: Position) -> Position:
        """clear-marks: a marked piece loses its mark when its own side is next to move."""
        board = {}
        for square, piece in position.board.items():
            form = self.forms.get(str(piece))
            if form is not None and form.kind == "marked" and form.side == position.side:
                piece = form.piece.identifier(form.side, form.style)
            board[square] = piece
        return Position(board, position.hands, position.side, position.shape, position.styles)

    def _is_allowed(self, before: Position, move: Choice) -> bool:
        host, side, after = self.host, before.side, _board(move.after)
        if "blast-safety" in host:
            mine, theirs = (
                len(self._terminals(after, each)) - len(self._terminals(_board(before), each))
                for each in (side, other_side(side))
            )
            if mine < 0 or theirs < 0:
                return mine >= 0
        if "royal-safety" in host and not self._is_safe(before, move):
            return False
        if "flying-general" in host and self.facing(after):
            return False
        quiet = "no-checks" in host or ("no-drop-checks" in host and move.source == HAND)
        quiet = quiet or ("no-promotion-checks" in host and self._promotes(move))
        if quiet and self.attacked(after, other_side(side), self._terminals(after, other_side(side))):
            return False
        if "no-flight" in host and not self._may_flee(before, move):
            return False
        if "no-leap-from-check" in host and self._leaps(move) and self.attacked(_board(before), side, [move.source]):
            return False
        return not self._exceeds(before, move)

    # --- royal safety ---

    def _is_safe(self, before: Position, move: Choice) -> bool:
        side, after = before.side, _board(move.after)
        if not self._is_covered(after, side):
            return False
        enters = move.source == HAND and move.destination in move.possibility.must
        if enters and move.possibility.must[move.destination] != "empty":
            shielded = {square: piece for square, piece in after.items() if square != move.destination}
            if not self._is_covered(shielded, side):
                return False
        castling = self.castling(move)
        return castling is None or not self._crosses_an_attack(_board(before), side, castling)

    def _is_covered(self, board: Board, side: Side) -> bool:
        """Whether the terminal pieces of a side are as safe as they have to be."""
        terminals = self._terminals(board, side)
        if len(terminals) > 1 and "spare-royal" in self.host:
            return True
        if len(terminals) > 1 and "duple-check" in self.host:
            return not all(self.attacked(board, side, [square]) for square in terminals)
        return not self.attacked(board, side, terminals)

    def _terminals(self, board: Board, side: Side) -> list[str]:
        return [square for square, piece in board.items() if piece in self.terminal and side_of(piece) == side]

    def attacked(self, board: Board, side: Side, squares: list[str]) -> bool:
        """Whether the other side could take a piece of `side` on one of the squares with its next move."""
        return any(self.attackers(board, side, squares))

    def attackers(self, board: Board, side: Side, squares: list[str]) -> Iterator[str]:
        """Where the pieces of the other side stand that could do so."""
        enemy = other_side(side)
        for square, piece in board.items():
            captures = self._captures_of(piece, square) if side_of(piece) == enemy and squares else {}
            if any(
                self._holds(possibility, board, enemy) and not self._destroys_own(possibility, board, enemy)
                for each in squares
                for possibility in captures.get(each, ())
            ):
                yield square

    def _destroys_own(self, possibility: Possibility, board: Board, side: Side) -> bool:
        """Whether what captures destroys a terminal piece of its own side, where this is asked."""
        if "blast-safety" not in self.host:
            return False
        assert possibility.effects is not None
        changes = possibility.effects.board
        own = {piece for piece in self.terminal if side_of(piece) == side}
        return sum(board.get(square) in own for square in changes) > sum(each in own for each in changes.values())

    def _captures_of(self, piece: str, source: str) -> dict[str, list[Possibility]]:
        """The possibilities of a piece by the squares on which they could take one."""
        known = self._captures.get((piece, source))
        if known is None:
            known = self._captures[piece, source] = {}
            for _, possibility in self.rules(piece, source):
                assert possibility.effects is not None
                for square in possibility.effects.board:
                    if square in possibility.must:
                        known.setdefault(square, []).append(possibility)
        return known

    def facing(self, board: Board) -> bool:
        """Whether two terminal pieces look at each other along a file or rank, with nothing between them."""
        first, second = (self._terminals(board, side) for side in ("first", "second"))
        for one, other in itertools.product(first, second):
            (a, b), (c, d) = sorted((cell.parse(one), cell.parse(other)))
            between = [(a, rank) for rank in range(b + 1, d)] if a == c else [(file, b) for file in range(a + 1, c)]
            if (a == c or b == d) and not any(cell.text(point) in board for point in between):
                return True
        return False

    def _crosses_an_attack(self, board: Board, side: Side, castling: Castling) -> bool:
        (start, rank), (end, _) = cell.parse(castling.source), cell.parse(castling.destination)
        king = self.forms[board[castling.source]]
        rest = {square: piece for square, piece in board.items() if square != castling.source}
        step = 1 if end > start else -1
        for file in range(start, end + step, step):
            square = cell.text((file, rank))
            crossing = {**rest, square: king.piece.identifier(side, king.style)}
            if self.attacked(crossing, side, [square]):
                return True
        return False

    # --- other duties ---

    def _may_flee(self, before: Position, move: Choice) -> bool:
        if move.piece not in self.terminal:
            return True
        board, after = _board(before), _board(move.after)
        return all(after.get(each) != board[each] for each in self.attackers(board, before.side, [move.source]))

    def _leaps(self, move: Choice) -> bool:
        if move.piece not in self.terminal or self.forms[move.piece].kind != "unmoved" or move.source == HAND:
            return False
        distance = zip(cell.parse(move.source), cell.parse(move.destination), strict=True)
        return max(abs(a - b) for a, b in distance) > 1

    def _promotes(self, move: Choice) -> bool:
        becomes = move.board.get(move.destination)
        return becomes is not None and move.source != HAND and self._token(becomes) != self._token(move.piece)

    def _exceeds(self, before: Position, move: Choice) -> bool:
        """Whether a promotion makes more of a piece than there may be."""
        becomes = str(move.board.get(move.destination))
        if not self._promotes(move):
            return False
        limited = "promotion-limit" in self.host or (
            "royal-promotion-limit" in self.host and self.forms[becomes].piece.terminal
        )
        kind = self._kind(becomes)
        placed = sum(self._kind(str(piece)) == kind for piece in before.board.values())
        return limited and placed >= sum(self._kind(piece) == kind for piece in self.start)

    def _kind(self, piece: str) -> tuple[Side, str]:
        return self.forms[piece].side, self.forms[piece].piece.letter

    # --- names ---

    def castling(self, move: Choice) -> Castling | None:
        """The castling that a move is, also one in which a piece enters."""
        board = move.board
        for form in self.definition.army(side_of(move.piece)).forms:
            for castling in form.piece.castling if form.kind == "unmoved" else ():
                squares = (castling.source, castling.destination, castling.rook_source, castling.rook_destination)
                own = move.source in (castling.source, HAND)
                rook = move.possibility.must.get(castling.rook_source) not in (None, "empty", "enemy")
                if castling.side == form.side and own and rook and set(board) - {self._left(move)} == set(squares):
                    return castling
        return None

    def _lost(self, move: Choice) -> str:
        """What the engine writes behind a capture that destroys its piece, first of all: what that would become."""
        becomes = move.board.get(move.destination, move.piece)
        gone = move.source != HAND and (becomes is None or self.forms[becomes].piece.is_wall)
        return self._marks(move.piece, move.source, move.destination)[0] if gone else ""

    def _marks(self, piece: str, source: str, destination: str) -> list[str]:
        form = self.forms[piece]
        for rule in form.piece.promotions:
            if rule.on != "any" and rule.applies(form.side, source, destination, captures=True):
                return [*([] if rule.forced == "yes" else [""]), *(token.strip("+-").lower() for token in rule.to)]
        return [""]

    def once(self, fen: str, names: list[str]) -> list[str]:
        """Names without those of captures that destroy a piece, but for the first of what it would become."""
        pieces = self.definition.pieces
        stones = {piece.token for piece in pieces if not piece.moves.patterns}
        turning = {piece.token for piece in pieces for rule in piece.promotions if stones.issuperset(rule.to)}
        may_be = turning or any(piece.blast.moves.patterns for piece in pieces)
        board = self.parse(fen).board if may_be else {}
        found = []
        for name in names:
            ends = re.match("([a-z][0-9]+)([a-z][0-9]+)", name)
            piece = board.get(ends[1]) if ends else None
            if ends and piece is not None and board.get(ends[2]) is not None:
                form = self.forms[piece]
                gone = form.piece.token in turning or (form.piece.blast.moves.patterns and not form.piece.blast.stays)
                if gone and name[ends.end() :] not in self._marks(piece, ends[1], ends[2])[:1]:
                    continue
            found.append(name)
        return found

    def name(self, move: Choice) -> str:
        """The name of a move in Fairy-Stockfish: e2e4, e7e8q, P@e4, b2b3+, e1g1, b1c3h for a gating, d1d7,d7g7."""
        left = self._left(move)
        return f"{self._name(move)},{move.destination}{left}" if left else self._name(move)

    def _left(self, move: Choice) -> str:
        """Where a move leaves a piece of the kind that its rules name."""
        wall = self.forms[move.piece].piece.wall
        letter = None if wall is None else wall.piece
        filled = [square for square, piece in move.board.items() if piece and self._token(piece) == letter]
        return next((square for square in filled if square != move.destination), "")

    def _name(self, move: Choice) -> str:
        castling = self.castling(move)
        if move.source == HAND:
            letter = self._token(move.piece).lower()
            if castling is not None:
                ends = (castling.source, castling.destination)
                gate = ends if move.destination == castling.source else (castling.rook_source, castling.source)
                return "".join(gate) + letter
            others = [square for square, piece in move.board.items() if square != move.destination and piece]
            if others and move.possibility.must.get(move.destination) != "empty":
                return f"{move.destination}{others[0]}{letter}"
            return f"{self._token(str(move.board[move.destination]))}@{move.destination}"
        if castling is not None and self._takes_rook(castling):
            return castling.source + castling.rook_source
        if move.board[move.destination] is None:
            return move.source + move.destination  # gone with what it took
        before, after = self._token(move.piece), self._token(str(move.board[move.destination]))
        suffix = ""
        if before != after and not self.forms[str(move.board[move.destination])].piece.is_wall:
            same = before[-1] == after[-1]
            shown = self.forms[str(move.board[move.destination])].piece.fen or after
            suffix = ("+" if shown[0] == "+" else "-") if same or after == "+P" else after.strip("+-").lower()
        return f"{move.source}{move.destination}{suffix}"

    def _takes_rook(self, castling: Castling) -> bool:
        sources = {
            each.source for form in self.forms.values() for each in form.piece.castling if each.side == form.side
        }
        return len(sources) > 2 or abs(cell.parse(castling.source)[0] - cell.parse(castling.destination)[0]) == 1

    def _token(self, piece: str) -> str:
        return self.forms[piece].piece.token


def _board(position: Position) -> dict[str, str]:
    return {square: piece for square, piece in position.board.items() if piece is not None}


def _takes(before: Position, move: Choice) -> bool:
    enemy = other_side(before.side)
    there = before.board.get(move.destination)
    counts = [sum(side_of(piece) == enemy for piece in _board(each).values()) for each in (before, move.after)]
    # The stone that a capture may leave behind is the first side's.
    return counts[1] < counts[0] or (there is not None and side_of(there) == enemy)


def _is_in(found: str | None, state: str, side: Side) -> bool:
    if state == "empty":
        return found is None
    if state == "enemy":
        return found is not None and (found[0].isupper() != (side == "first"))
    return found == state
