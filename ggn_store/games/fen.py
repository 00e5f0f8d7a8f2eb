"""FEN, in the form that Fairy-Stockfish writes for every game, and SFEN: text <-> Position, through a definition.

The forms are described in `ggn_store/guides/defining-games.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NoReturn

from ggn_store import limits
from ggn_store.errors import PositionError, offer, quote
from ggn_store.games.letters import Letters, token_of
from ggn_store.games.numbers import numbered
from ggn_store.games.past import is_same
from ggn_store.games.rules import SIDES, Definition, Form
from ggn_store.model.moves.counters import Counters
from ggn_store.model.moves.play import most_checks
from ggn_store.model.moves.position import Position
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side, other_side

MAX_LENGTH: Final = limits.POSITION_TEXT.default
_HOLE: Final = "*"
_FEN_SIDES: Final[dict[str, Side]] = {"w": "first", "b": "second"}
_SFEN_SIDES: Final[dict[str, Side]] = {"b": "first", "w": "second"}
_TOKEN = re.compile(r"[0-9]+|\*|[-+]?[A-Za-z]'?~?", re.ASCII)
_HELD = re.compile(r"([0-9]{1,4})?([-+]?[A-Za-z]'?)", re.ASCII)
# Of moves; and of checks, that are left (3+3) or given (+0+0, as Lichess writes it).
_COUNTER = re.compile(r"[0-9]{1,9}|\+?[0-9]{1,9}\+[0-9]{1,9}", re.ASCII)
# How many checks win where a game does not say it.
_CHECKS: Final = 3
_ALLOWED_COUNTERS: Final = "whole numbers after the en passant field, such as 0 1; of checks 3+3 (left) or +0+0 (given)"
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_PASSED = re.compile(r"[a-z][1-9][0-9]?", re.ASCII)
_BRACKETS = re.compile(r"(?P<placement>[^\[\]]*)\[(?P<held>[^\[\]]*)\]")


def parse_fen(text: str, definition: Definition) -> Position:
    """The position that a FEN writes; raises PositionError, which says where the text is wrong.

    Where kings castle from several squares a number is read, too: that of a start position.
    """
    if definition.castles_anywhere and text.isdecimal():
        return replace(numbered(text, definition), counters=Counters())
    return _Reader(text, "a FEN", Letters(definition)).fen()


def parse_sfen(text: str, definition: Definition) -> Position:
    """The position that an SFEN writes; raises PositionError, which says where the text is wrong."""
    return _Reader(text, "an SFEN", Letters(definition)).sfen()


def fen(position: Position, definition: Definition, shredder: bool = False) -> str:
    """The FEN of a position, with the counters `0 1` where it has none; PositionError where FEN cannot say it.

    Where kings castle from several squares it is X-FEN, or Shredder-FEN, which names every rook by its file.
    """
    letters = Letters(definition)
    placement = _placement(position, letters)
    if letters.has_hands:
        held = "".join(token * count for token, count in _held(position, letters))
        placement += f"[{held}]"
    else:
        _no_hands(position)
    side = "w" if position.side == "first" else "b"
    counters = position.counters or Counters()
    checks = "" if counters.checks is None else "{}+{} ".format(*counters.checks)
    rest = f"{checks}{counters.quiet} {counters.number}"
    return f"{placement} {side} {_rights(position, letters, shredder)} {_passed(position, letters)} {rest}"


def sfen(position: Position, definition: Definition) -> str:
    """The SFEN of a position, with the move number 1 where it has none; PositionError where SFEN cannot say it."""
    letters = Letters(definition)
    placement = _placement(position, letters)
    for square, piece in position.board.items():
        if piece is not None and letters.definition.forms[piece].kind != "plain":
            raise PositionError(f"SFEN has no way to write the state of {piece} on {square}: write FEEN")
    if not letters.has_hands:
        _no_hands(position)
    held = "".join(f"{count if count > 1 else ''}{token}" for token, count in _held(position, letters))
    number = 1 if position.counters is None else position.counters.plies + 1
    return f"{placement} {'b' if position.side == 'first' else 'w'} {held or '-'} {number}"


class _Reader:
    """Reads one text; every complaint quotes the part of it that is wrong."""

    def __init__(self, text: str, kind: str, letters: Letters) -> None:
        self._text = text
        self._kind = kind
        self._letters = letters
        self._board: dict[str, Form] = {}
        self._states: dict[str, Form] = {}
        if not isinstance(text, str):
            raise PositionError(f"{quote(text)} is not {kind}, which is a text")
        if len(text) > MAX_LENGTH:
            raise PositionError(f"{kind} has at most {MAX_LENGTH:,} characters, and this one {len(text):,}")

    def fen(self) -> Position:
        fields = self._text.split()
        if not fields:
            self._fail("the text is empty", "such as the start position's")
        placement, held = self._split_hands(fields[0])
        self._read_placement(placement)
        side = self._side(fields, _FEN_SIDES)
        rest = fields[2:]
        rights = rest.pop(0) if rest and not _COUNTER.fullmatch(rest[0]) else "-"
        passed = rest.pop(0) if rest and not _COUNTER.fullmatch(rest[0]) else "-"
        for field in rest:
            if not _COUNTER.fullmatch(field):
                self._fail(f"{quote(field)} is not a counter", _ALLOWED_COUNTERS)
        self._read_rights(rights)
        self._read_passed(passed, other_side(side))
        return self._position(self._hands(held), side, self._counters(rest, side))

    def sfen(self) -> Position:
        fields = self._text.split()
        if not 3 <= len(fields) <= 4:
            self._fail(
                f"it has {_counted(len(fields), 'field')}", "placement, side, hands and, optionally, the move number"
            )
        self._read_placement(fields[0])
        side = self._side(fields, _SFEN_SIDES)
        number = fields[3] if len(fields) == 4 else "1"
        if not _NUMBER.fullmatch(number):
            self._fail(f"{quote(number)} is not a move number", "a whole number")
        return self._position(self._hands(fields[2]), side, Counters(plies=max(int(number), 1) - 1))

    def _fail(self, message: str, allowed: str) -> NoReturn:
        raise PositionError(f"{quote(self._text)} is not {self._kind} of this game: {message}; allowed: {allowed}")

    def _position(self, hands: dict[str, int] | None, side: Side, counters: Counters) -> Position:
        pieces = {square: self._states.get(square, form).identifier for square, form in self._board.items()}
        definition = self._letters.definition
        shape = (len(self._letters.rows[0]), len(self._letters.rows))
        return Position(pieces, hands, side, shape, definition.styles, counters=counters)

    # --- placement and hands ---

    def _split_hands(self, field: str) -> tuple[str, str | None]:
        if "[" in field or "]" in field:
            match = _BRACKETS.fullmatch(field)
            if match is None:
                self._fail(f"the brackets of the hands in {quote(field)} do not match", "[QRbn] behind the placement")
            return match["placement"], match["held"]
        ranks = field.split("/")
        if len(ranks) == len(self._letters.rows) + 1 and self._letters.has_hands:
            return "/".join(ranks[:-1]), ranks[-1]
        return field, None

    def _read_placement(self, placement: str) -> None:
        ranks = placement.split("/")
        rows = self._letters.rows
        if len(ranks) != len(rows):
            self._fail(f"the placement has {_counted(len(ranks), 'rank')}", f"{len(rows)}, with / between them")
        for text, row in zip(ranks, rows, strict=True):
            self._read_rank(text, row)

    def _read_rank(self, text: str, row: tuple[str | None, ...]) -> None:
        number = len(self._letters.rows) - self._letters.rows.index(row)
        column = at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self._fail(f"{quote(text[at])} in rank {number}, {quote(text)}, means nothing", self._tokens())
            token, at = match[0], match.end()
            width = int(token) if token.isdigit() else 1
            if width == 0 or column + width > len(row):
                self._fail(f"rank {number}, {quote(text)}, is not of {len(row)} squares", f"{len(row)} squares")
            square = row[column]
            column += width
            if token.isdigit() or (token == _HOLE and square is None):
                continue
            if square is None:
                self._fail(f"rank {number}, {quote(text)}, has a piece where the board has a hole", _HOLE)
            if token == _HOLE and _HOLE not in self._letters.pieces:
                self._fail(f"rank {number}, {quote(text)}, has a hole at {square}", "holes where the board has them")
            self._board[square] = self._form(token, f"in rank {number}, {quote(text)},")
        if column != len(row):
            self._fail(f"rank {number}, {quote(text)}, has {_counted(column, 'square')}", str(len(row)))

    def _form(self, token: str, where: str) -> Form:
        form = self._letters.pieces.get(token)
        if form is None:
            self._fail(f"{quote(token)} {where} is no piece of this game", self._tokens())
        return form

    def _tokens(self) -> str:
        return offer(list(self._letters.pieces))

    def _side(self, fields: list[str], sides: dict[str, Side]) -> Side:
        letter = fields[1] if len(fields) > 1 else next(iter(sides))
        if letter not in sides:
            self._fail(f"{quote(letter)} is not a side", " or ".join(f"{key} ({sides[key]})" for key in sides))
        return sides[letter]

    def _hands(self, held: str | None) -> dict[str, int] | None:
        if not self._letters.has_hands:
            if held not in (None, "", "-"):
                self._fail(f"it has the hands {quote(held)}", "no hands, for nothing can be dropped in this game")
            return None
        if held is None:
            return dict(self._letters.free)
        hands: dict[str, int] = {}
        at = 0
        text = "" if held == "-" else held
        while at < len(text):
            match = _HELD.match(text, at)
            if match is None:
                self._fail(f"{quote(text[at])} in the hands {quote(text)} means nothing", "pieces, such as QRbn")
            form = self._form(match[2], f"in the hands {quote(text)}")
            if form.piece.token not in self._letters.held:
                self._fail(f"{quote(match[2])} in the hands {quote(text)} is never in a hand", "pieces that can be")
            hands[form.identifier] = hands.get(form.identifier, 0) + int(match[1] or 1)
            at = match.end()
        return hands

    # --- what pieces have done before ---

    def _read_rights(self, field: str) -> None:
        if field == "-" or (set(field) <= set("KQkq") and not any(map(self._letters.unmoved, SIDES))):
            return  # a game without castling often carries the field of chess
        for letter in field:
            side: Side = "first" if letter.isupper() else "second"
            if not (letter.isascii() and letter.isalpha()):
                self._fail(f"{quote(letter)} in the castling field {quote(field)} means nothing", self._rights(side))
            castling = self._letters.castlings(side, self._board).get(letter.upper())
            for square, wanted in self._of_file(side, letter) if castling is None else castling:
                form = self._board.get(square)
                if form is None or not is_same(form, wanted):
                    self._fail(
                        f"{quote(letter)} in the castling field {quote(field)} needs {token_of(wanted)} on {square}",
                        "rights of pieces that stand where they began, or -",
                    )
                self._states[square] = wanted

    def _of_file(self, side: Side, letter: str) -> list[tuple[str, Form]]:
        """The pieces on a file that have not moved, with their squares, and the king where they castle."""
        unmoved = self._letters.unmoved(side)
        found = [each for each in unmoved if each[0][0] == letter.lower() and each[0][1:].isdigit()]
        if self._letters.definition.castles_anywhere:
            message = f"{quote(letter)} in the castling field is of no king and rook that can castle"
            self._fail(message, "K and Q for the outermost rooks, the files of rooks, or -")
        if not found:
            self._fail(f"{quote(letter)} in the castling field means nothing", self._rights(side))
        if not any(self._letters.remembers(form) for _, form in unmoved):
            castlings = self._letters.castlings(side, self._board).values()
            found += [king for king, (rook, _) in castlings if rook in dict(found)]
        return found

    def _rights(self, side: Side) -> str:
        names = list(self._letters.castlings(side, self._board))
        names += sorted({square[0].upper() for square, _ in self._letters.unmoved(side)})
        found = [name if side == "first" else name.lower() for name in dict.fromkeys(names)]
        return ", ".join([*found, "-"])

    def _read_passed(self, field: str, side: Side) -> None:
        if field == "-":
            return
        squares = _PASSED.findall(field)
        if "".join(squares) != field:
            self._fail(f"{quote(field)} is not a square", "the square that a pawn has just passed, or -")
        given = set(squares)
        found = [
            mark
            for mark in self._letters.definition.army(side).marks
            if given & set(mark.passed) and self._stands(mark.identifier, mark.square)
        ]
        # Programs differ in naming all squares of a longer first move, or the first of them.
        found.sort(key=lambda mark: len(given ^ set(mark.passed)))
        if not found:
            self._fail(f"no piece can have passed {field} with the last move", "such a square, or -")
        self._states[found[0].square] = self._letters.definition.forms[found[0].identifier]

    def _counters(self, fields: list[str], side: Side) -> Counters:
        """What the last fields of a FEN count: the clock, the number of the move, and before or behind them checks."""
        numbers = [int(field) for field in fields if "+" not in field]
        # Makruk has a third number before the two, of its own counting.
        quiet, number = numbers[-2:] if len(numbers) > 1 else [*numbers, *(0, 1)[len(numbers) :]]
        checks = None
        for field in fields:
            first, sign, second = field.removeprefix("+").partition("+")
            if not sign:
                continue
            checks = (int(first), int(second))
            if field[0] == "+":
                most = self._checks("first"), self._checks("second")
                checks = (most[0] - checks[0], most[1] - checks[1])
                if min(checks) < 0:
                    self._fail(f"{quote(field)} are more checks than win", f"from +0+0 to +{most[0]}+{most[1]}")
        return Counters.of_fen(quiet, number, side, checks)

    def _checks(self, side: Side) -> int:
        """How many checks of a side are counted."""
        return most_checks((end.outcome for end in self._letters.definition.said.ends), side) or _CHECKS

    def _stands(self, identifier: str, square: str) -> bool:
        form, wanted = self._board.get(square), self._letters.definition.forms[identifier]
        return form is not None and form.piece.token == wanted.piece.token and form.side == wanted.side


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


# --- writing ---


def _placement(position: Position, letters: Letters) -> str:
    known = letters.definition.board.numbers
    for square, piece in position.board.items():
        if square not in known:
            raise PositionError(f"{quote(square)}, where the position has {piece}, is not on the board of this game")
        if piece is not None and (piece not in letters.definition.forms or letters.definition.forms[piece].derived):
            message = f"FEN and SFEN have no letter for {piece}, which is on {square}: write FEEN"
            raise PositionError(f"{message}; letters: {offer(list(letters.pieces))}")
    return "/".join("".join(_rank(position, letters, row)) for row in letters.rows)


def _rank(position: Position, letters: Letters, row: tuple[str | None, ...]) -> Iterator[str]:
    empty = 0
    for square in row:
        piece = None if square is None else position.board.get(square)
        if piece is None and square is not None:
            empty += 1
            continue
        if empty:
            yield str(empty)
        empty = 0
        yield _HOLE if piece is None else token_of(letters.definition.forms[piece])
    if empty:
        yield str(empty)


def _held(position: Position, letters: Letters) -> Iterator[tuple[str, int]]:
    """The tokens of both hands with their counts, in the order of the definition."""
    hands = position.hands or {}
    for piece in hands:
        form = letters.definition.forms.get(piece)
        if form is None or form.kind != "plain" or form.derived:
            raise PositionError(f"FEN and SFEN have no letter for {piece}, which is in a hand: write FEEN")
    for form in letters.pieces.values():
        if count := hands.get(form.identifier, 0):
            yield token_of(form), count


def _no_hands(position: Position) -> None:
    if position.hands:
        raise PositionError(
            f"this game has no hands to write, and the position has {offer(list(position.hands))} in one"
        )


def _rights(position: Position, letters: Letters, shredder: bool) -> str:
    field, forms = "", letters.definition.forms
    board = {square: forms[piece] for square, piece in position.board.items() if piece is not None}
    by_file = letters.definition.castles_anywhere
    for side in SIDES:
        here = letters.unmoved_on(side, board)
        named: dict[tuple[str, ...], str] = {}
        castlings = letters.castlings(side, board)
        for letter in sorted(castlings, key=lambda each: (each not in "KQ", each)):
            squares = tuple(square for square, _ in castlings[letter])
            if here.keys() >= set(squares) and not (shredder and by_file and letter in "KQ"):
                named.setdefault(squares, letter)
        # Where files are named, they are from the last one on.
        listed = sorted(named, key=lambda each: each[1], reverse=True) if by_file else [*named]
        rights = "".join(named[each] for each in listed)
        rest = here.keys() - {square for squares in named for square in squares}
        rest = {square for square in rest if letters.remembers(here[square], position.hands)}
        rights += "".join(square[0].upper() for square in sorted(rest, key=cell.parse))
        field += rights if side == "first" else rights.lower()
    return field or "-"


def _passed(position: Position, letters: Letters) -> str:
    forms = letters.definition.forms
    marked = {
        square: piece
        for square, piece in position.board.items()
        if piece is not None and forms[piece].kind == "marked" and forms[piece].side != position.side
    }
    if not marked:
        return "-"
    if len(marked) > 1:
        found = offer([f"{piece} on {square}" for square, piece in marked.items()])
        raise PositionError(
            f"FEN says of one piece only that it can be captured in passing, not of {found}: write FEEN"
        )
    ((square, piece),) = marked.items()
    for mark in letters.definition.army(other_side(position.side)).marks:
        if (mark.identifier, mark.square) == (piece, square):
            return "".join(mark.passed)
    raise PositionError(
        f"no first move of this game leaves {piece} on {square}, which FEN would have to say: write FEEN"
    )
