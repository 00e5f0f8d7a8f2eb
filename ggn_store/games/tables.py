"""The tables of pieces in a definition -> PieceRule values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from ggn_store import limits
from ggn_store.errors import offer
from ggn_store.games.betza import BetzaError, parse
from ggn_store.games.estimate import ways
from ggn_store.games.patterns import BetzaPattern, Leg
from ggn_store.games.rules import (
    SIDES,
    TRIGGERS,
    Also,
    BetzaMoves,
    Blast,
    Castling,
    Drop,
    PieceRule,
    Promotion,
    Trigger,
    Wall,
    Zone,
)
from ggn_store.games.squares import ALL, ZONES, Squares
from ggn_store.games.toml_text import TomlTable, TomlValues, key_path
from ggn_store.model.documents.board import Board
from ggn_store.notation import qpi
from ggn_store.notation.feen import Feen
from ggn_store.notation.json_text import Path
from ggn_store.notation.qpi import Side, other_side

MAX_FILE_LIMIT: Final = 2

PIECE_KEYS: Final = (
    *("name", "betza", "also", "terminal", "immune", "initial", "unmoved", "en_passant", "castling", "rook"),
    *("promotion", "confined", "drop", "gating", "hand", "captures_except", "hurdles_except", "wall"),
    *("blast", "turns", "fen"),
)
ALSO_KEYS: Final = ("betza", "from", "within")
CASTLING_KEYS: Final = ("from", "to", "with", "with_to", "empty", "rook")
PROMOTION_KEYS: Final = (
    *("to", "zone", "from", "on", "forced", "capturing", "unique"),
    *("betza", "in_place", "apart", "alone"),
)
WALL_KEYS: Final = ("piece", "zone", "betza", "past")
BLAST_KEYS: Final = ("betza", "spares", "stays")
DROP_KEYS: Final = (
    *("zone", "nifu", "immobile", "on_top", "as", "unmoved"),
    *("apart", "near", "other_colour", "lone", "encloses"),
)

GROUPS: Final[Mapping[str, tuple[Side, ...]]] = {"pieces": SIDES, "first": ("first",), "second": ("second",)}
_TOKEN = re.compile("[-+]?[A-Z]'?", re.ASCII)
_LETTER = re.compile("[A-Z]", re.ASCII)
_FEN = re.compile(r"\+?[A-Z]~?|\*", re.ASCII)
_TOKENS: Final = """a capital letter, with + or - for a state, and ' for one more such letter: P, "+P", "P'\""""


class Tables:
    """The tables of both sides' pieces; first their tokens are noted, then each is read."""

    def __init__(self, values: TomlValues, squares: Squares, captures: bool, mixed: bool) -> None:
        self._values = values
        self._squares = squares
        self._captures = captures
        self._mixed = mixed
        self.paths: dict[Side, dict[str, Path]] = {"first": {}, "second": {}}
        self._walls: set[str] = set()
        self._start: Feen | None = None

    def read(self, data: TomlTable, start: Feen | None) -> tuple[PieceRule, ...]:
        """Every piece, in the order of the definition."""
        self._start = start
        tables = list(self._tables(data))
        if not tables and not self._values.complaints:
            self._values.complain(("pieces",), "a definition has pieces", allowed="tables such as [pieces.K]")
        self._walls = {str(path[1]) for path, _, each in tables if _is_wall(each)}
        pieces = _with_unmoved_rooks([self._piece(table, path, sides) for path, sides, table in tables])
        return tuple(map(self._with_first_moves, pieces))

    def _tables(self, data: TomlTable) -> Iterator[tuple[Path, tuple[Side, ...], dict[str, Any]]]:
        for group, sides in GROUPS.items():
            for token, table in self._values.table(data, group).items():
                path: Path = (group, token)
                if not _TOKEN.fullmatch(token):
                    self._values.complain(path, "not the name of a piece", token, _TOKENS)
                    continue
                if self._mixed and token.endswith("'"):
                    message = "of two styles ' says that a piece is of the other side's"
                    self._values.complain(path, message, token, "letters without it, or one style")
                for side in sides:
                    if token in self.paths[side]:
                        message = f"the {side} side has this piece already, as {key_path(self.paths[side][token])}"
                        self._values.complain(path, message, token, "one table a piece and side")
                    self.paths[side].setdefault(token, path)
                if isinstance(table, dict):
                    yield path, sides, table
                else:
                    self._values.complain(path, "a piece is a table", table, f"[{key_path(path)}] and its keys")

    def _piece(self, table: TomlTable, path: Path, sides: tuple[Side, ...]) -> PieceRule:
        values, squares = self._values, self._squares
        values.known_keys(table, path, "a piece", PIECE_KEYS)
        token = str(path[1])
        terminal = values.flag(table, "terminal", path)
        castling = tuple(self._castlings(table, path, sides))
        unmoved = squares.optional_zone(table, "unmoved", path)
        if unmoved is None and castling:
            unmoved = _zone_of((each.side, each.source) for each in castling)
        for key in ("unmoved", "castling", "en_passant"):
            if token[0] in "+-" and table.get(key, False) is not False:
                message = f"{key} marks a piece by a state, and this one has a state already"
                values.complain((*path, key), message, token, "pieces without + and -")
        return PieceRule(
            token=token,
            sides=sides,
            moves=self._moves(table, path),
            name=values.text(table, "name", path),
            also=tuple(self._also(table, path)),
            terminal=terminal,
            immune=values.flag(table, "immune", path),
            initial=squares.optional_zone(table, "initial", path),
            unmoved=unmoved,
            castling=castling,
            en_passant=self._en_passant(table, path),
            promotions=tuple(self._promotions(table, path, sides)),
            confined=squares.optional_zone(table, "confined", path),
            drop=self._drop(table, path, sides, terminal),
            gating=values.flag(table, "gating", path),
            hand=self._hand(table, path, sides, terminal),
            captures_except=self._letters(table, "captures_except", path),
            hurdles_except=self._letters(table, "hurdles_except", path),
            wall=self._wall(table, path),
            blast=self._blast(table, path),
            turns=self._leaps(table, "turns", path),
            fen=self._fen(table, path),
        )

    # --- moves ---

    def _leaps(self, table: TomlTable, key: str, path: Path) -> BetzaMoves:
        """The squares around one that a key says, as leaps."""
        moves = self._moves(table, path, key) if key in table else BetzaMoves()
        if not all(len(each.legs) == 1 and not each.initial and _is_leap(each.legs[0]) for each in moves.patterns):
            self._values.complain((*path, key), "squares around one are leaps without modes", moves.betza, '"K", "W"')
        return moves

    def _moves(self, table: TomlTable, path: Path, key: str = "betza") -> BetzaMoves:
        path = (*path, key)
        if key not in table:
            allowed = 'how the piece moves, such as "FfW"; "" for not at all'
            self._values.complain(path, "betza is missing", allowed=allowed)
        text = self._values.text(table, key, path[:-1], empty=True)
        if not text:
            return BetzaMoves()
        try:
            moves = BetzaMoves(text, parse(text, self._squares.dimensions or 2, self._squares.are_hexagons))
        except BetzaError as error:
            message, _, detail = str(error).partition("\n")
            self._values.complain(path, message, text, detail=detail or None)
            return BetzaMoves()
        count, limit = ways(moves.patterns), limits.BETZA_WAYS
        if count > limit.most:
            self._values.complain(path, f"the string has {count:,} ways to move", text, limit.allowed)
            return BetzaMoves()
        return moves

    def _also(self, table: TomlTable, path: Path) -> Iterator[Also]:
        for item, at in self._values.items(table, "also", path):
            self._values.known_keys(item, at, "a further way of moving", ALSO_KEYS)
            start = self._squares.optional_zone(item, "from", at)
            yield Also(self._moves(item, at), start, self._squares.optional_zone(item, "within", at))

    def _with_first_moves(self, piece: PieceRule) -> PieceRule:
        """A piece whose first moves are from where it stands at the start, unless its squares or its state say it."""
        if self._start is None or piece.initial is not None or piece.unmoved is not None:
            return piece
        names = [(square, qpi.parse(name)) for square, name in self._start.board.items()]
        found = ((each.side, square, f"{each.state}{each.letter}{chr(39) * each.derived}") for square, each in names)
        return replace(piece, initial=_zone_of((side, square) for side, square, name in found if name == piece.token))

    def _en_passant(self, table: TomlTable, path: Path) -> Zone | None:
        value = table.get("en_passant", False)
        if value is False:
            return None
        return self._squares.zone(ALL if value is True else value, (*path, "en_passant"))

    def _castlings(self, table: TomlTable, path: Path, sides: tuple[Side, ...]) -> Iterator[Castling]:
        rook = self._values.text(table, "rook", path) or "R"
        value = table.get("castling")
        if isinstance(value, dict) and value.keys() == set(SIDES):
            for side in sides:
                for item, at in self._values.items(value, side, (*path, "castling")):
                    yield from self._castling(item, at, (side,), rook, mirrored=False)
        else:
            for item, at in self._values.items(table, "castling", path):
                yield from self._castling(item, at, sides, rook, mirrored=True)

    def _castling(
        self, item: TomlTable, path: Path, sides: tuple[Side, ...], rook: str, mirrored: bool
    ) -> Iterator[Castling]:
        values = self._values
        values.known_keys(item, path, "a castling", CASTLING_KEYS)
        before = values.complaints.total
        kings, rooks = (self._squares.squares(item, key, path, sides[0]) for key in ("from", "with"))
        ends = [self._squares.square(item, key, path) for key in ("to", "with_to")]
        rook = values.text(item, "rook", path) or rook
        if not _LETTER.fullmatch(rook):
            values.complain((*path, "rook"), "not the letter of a piece", rook, "one capital letter")
        else:
            self._check_tokens([rook], (*path, "rook"), sides)
        if values.complaints.total > before or self._squares.board is None:
            return
        to, with_to = cast("list[str]", ends)
        pairs = [(source, rook_source) for source in kings for rook_source in rooks]
        if len(pairs) > 1:
            pairs = [pair for pair in pairs if self._squares.passes((pair[0], to), (pair[1], with_to))]
            if not pairs or "empty" in item:
                message = "of areas each king castles with each rook that it passes, over squares that are then empty"
                values.complain(path, message, sorted(item), "areas that pass each other, without empty")
                return
        for source, rook_source in pairs:
            if source == rook_source or to == with_to:
                square = source if source == rook_source else to
                values.complain(path, "the two pieces would stand on one square", square, "two squares")
                return
            yield from self._castled(item, path, sides, (source, to, rook_source, with_to), rook, mirrored)

    def _castled(
        self, item: TomlTable, path: Path, sides: tuple[Side, ...], ends: tuple[str, ...], rook: str, mirrored: bool
    ) -> Iterator[Castling]:
        """A castling from one square with one rook, of each side."""
        values, board, between = self._values, cast(Board, self._squares.board), self._squares.between
        source, destination, rook_source, rook_destination = ends
        passed = {*between(source, rook_source), *between(source, destination), *between(rook_source, rook_destination)}
        passed = (passed | {destination, rook_destination}) - {source, rook_source}
        empty = values.texts(item, "empty", path) if "empty" in item else sorted(passed, key=board.numbers.__getitem__)
        for number, square in enumerate(empty):
            if square not in board.numbers or square in (source, rook_source):
                allowed = "squares of the board other than from and with"
                values.complain((*path, "empty", number), "not a square that can be empty", square, allowed)
                return
        all_squares = [source, destination, rook_source, rook_destination, *empty]
        for side in sides:
            if mirrored and side == "second":
                images = [self._squares.mirror[square] for square in all_squares]
                if None in images:
                    allowed = "{ first = [{ ... }], second = [{ ... }] }"
                    values.complain(path, "the second side's squares are not on the board", all_squares, allowed)
                    return
                all_squares = cast("list[str]", images)
            source, destination, rook_source, rook_destination, *empty = all_squares
            yield Castling(side, source, destination, rook, rook_source, rook_destination, tuple(empty))

    # --- what becomes of a piece ---

    def _promotions(self, table: TomlTable, path: Path, sides: tuple[Side, ...]) -> Iterator[Promotion]:
        values = self._values
        for item, at in values.items(table, "promotion", path):
            values.known_keys(item, at, "a promotion", PROMOTION_KEYS)
            if item.get("to", []) == []:
                values.complain((*at, "to"), "a promotion says what the piece becomes", allowed='such as ["Q", "+P"]')
            to = values.texts(item, "to", at)
            self._check_tokens(to, (*at, "to"), sides, numbered=True, but=self._walls)
            moves = self._moves(item, at) if item.get("betza") else BetzaMoves()
            in_place = values.flag(item, "in_place", at)
            is_a_move = in_place or bool(moves.patterns)
            on = values.choice(item, "on", at, TRIGGERS) or ("any" if is_a_move and "zone" not in item else "enter")
            zone = self._squares.optional_zone(item, "zone", at)
            if zone is not None and item.get("on") == "any":
                message = 'on = "any" is every move, wherever it ends, and has no zone'
                values.complain((*at, "zone"), message, item["zone"], "zone or on, not both")
            for key in ("forced", "capturing", "unique") if is_a_move else ("apart", "alone"):
                if key in item:
                    kind = "that ends another move" if is_a_move else "with betza or in_place"
                    values.complain((*at, key), f"{key} is for a promotion {kind}", item[key])
            if "zone" not in item and on != "any":
                values.complain((*at, "zone"), "a promotion has a zone", allowed=f'{ZONES}; or on = "any"')
            forced = item.get("forced", False)
            if not isinstance(forced, bool) and forced != "immobile":
                values.complain((*at, "forced"), "forced says when it must be", forced, 'true, false or "immobile"')
            capturing = values.flag(item, "capturing", at)
            nowhere = Zone(frozenset(), frozenset())
            yield Promotion(
                zone or nowhere,
                tuple(to),
                cast(Trigger, on),
                "immobile" if forced == "immobile" else "yes" if forced is True else "no",
                capturing,
                self._squares.optional_zone(item, "from", at),
                values.flag(item, "unique", at),
                moves,
                in_place,
                self._leaps(item, "apart", at),
                values.flag(item, "alone", at),
            )

    def _drop(self, table: TomlTable, path: Path, sides: tuple[Side, ...], terminal: bool) -> Drop | None:
        values = self._values
        value = table.get("drop", self._captures and not terminal and str(path[1])[0] not in "+-")
        path = (*path, "drop")
        if isinstance(value, bool):
            return Drop() if value else None
        if not isinstance(value, dict):
            values.complain(path, "drop says where the piece may be dropped", value, "true, false or a table")
            return None
        values.known_keys(value, path, "a drop", DROP_KEYS)
        limit = value.get("nifu", False)
        if not isinstance(limit, bool) and not (isinstance(limit, int) and 1 <= limit <= MAX_FILE_LIMIT):
            allowed = f"true for one piece a file, or how many: 1 to {MAX_FILE_LIMIT}"
            values.complain((*path, "nifu"), "nifu limits the pieces of a file", limit, allowed)
            limit = False
        on_top = values.flag(value, "on_top", path)
        for key, wanted in (("nifu", limit), ("on_top", on_top)):
            if wanted and self._squares.dimensions == 1:
                values.complain((*path, key), "a board of one dimension has no files", value[key], "no such rule")
        forms = values.texts(value, "as", path)
        self._check_tokens(forms, (*path, "as"), sides, numbered=True)
        return Drop(
            zone=self._squares.optional_zone(value, "zone", path),
            file_limit=None if limit is False else int(limit),
            immobile=values.flag(value, "immobile", path, default=True),
            on_top=on_top,
            forms=tuple(forms),
            unmoved=values.flag(value, "unmoved", path),
            apart=self._leaps(value, "apart", path),
            near=self._leaps(value, "near", path),
            other_colour=values.flag(value, "other_colour", path),
            lone=values.flag(value, "lone", path),
            encloses=self._leaps(value, "encloses", path),
        )

    def _hand(self, table: TomlTable, path: Path, sides: tuple[Side, ...], terminal: bool) -> str | None:
        value = table.get("hand", not terminal)
        if value is False:
            return None
        if value is True:
            value = str(path[1]).lstrip("+-")  # what is captured loses its state
        path = (*path, "hand")
        if not isinstance(value, str) or not _TOKEN.fullmatch(value):
            self._values.complain(path, "not what the piece is in a hand", value, f"{_TOKENS}; false for nothing")
            return None
        # In the hand of the other side it is a piece of that side, or with two styles one of derived style.
        owners = [side if self._mixed else other_side(side) for side in sides]
        for owner in owners if self._captures else ():
            if value not in self.paths[owner]:
                message = f"captured, it would be {value} in a hand, and the {owner} side has no such piece"
                self._values.complain(path, message, value, "a piece of that side, or hand = false")
                return None
        return value

    def _wall(self, table: TomlTable, path: Path) -> Wall | None:
        values = self._values
        value = values.table(table, "wall", path)
        if "wall" not in table or not isinstance(table["wall"], dict):
            return None
        path = (*path, "wall")
        values.known_keys(value, path, "a wall", WALL_KEYS)
        token = values.text(value, "piece", path)
        known = list(dict.fromkeys(token for side in SIDES for token in self.paths[side]))
        if token not in known:
            values.complain((*path, "piece"), "a wall names the piece that is left", token, offer(known))
        past, moves = values.flag(value, "past", path), self._moves(value, path) if "betza" in value else BetzaMoves()
        if past and moves.patterns:
            values.complain(path, "a wall is left behind or goes ahead", sorted(value), "past or betza")
        is_empty = value.get("betza") == ""
        if is_empty or not all(map(_is_over_empty_squares, moves.patterns)):
            message = "what is left goes over empty squares to an empty one, in one leg"
            values.complain((*path, "betza"), message, moves.betza, 'such as "mQ"')
        return Wall(token or "", self._squares.optional_zone(value, "zone", path), moves, past)

    def _blast(self, table: TomlTable, path: Path) -> Blast:
        if not isinstance(table.get("blast", ""), str | dict):
            self._values.complain((*path, "blast"), "blast says what it empties", table["blast"], '"K" or a table')
            return Blast()
        if not isinstance(table.get("blast"), dict):
            return Blast(self._leaps(table, "blast", path))
        value, path = table["blast"], (*path, "blast")
        self._values.known_keys(value, path, "a blast", BLAST_KEYS)
        moves = self._leaps({"betza": value.get("betza", "K")}, "betza", path)
        return Blast(moves, self._letters(value, "spares", path), self._values.flag(value, "stays", path))

    # --- names ---

    def _check_tokens(
        self,
        tokens: list[str],
        path: Path,
        sides: tuple[Side, ...],
        numbered: bool = False,
        but: Collection[str] = (),
    ) -> None:
        """Complain about tokens that a side has no piece for, `but` for those that stand for the other side's."""
        for number, token in enumerate(tokens):
            for side in sides:
                if token not in self.paths[side] and token not in but:
                    at = (*path, number) if numbered else path
                    self._values.complain(
                        at, f"the {side} side has no such piece", token, offer(list(self.paths[side]))
                    )
                    break

    def _letters(self, table: TomlTable, key: str, path: Path) -> tuple[str, ...]:
        letters = self._values.texts(table, key, path)
        known = sorted({token.lstrip("+-") for side in SIDES for token in self.paths[side]})
        for number, letter in enumerate(letters):
            if letter not in known:
                self._values.complain((*path, key, number), "no piece has this letter", letter, offer(known))
        return tuple(letters)

    def _fen(self, table: TomlTable, path: Path) -> str | None:
        text = self._values.text(table, "fen", path)
        if text is not None and not _FEN.fullmatch(text):
            self._values.complain(
                (*path, "fen"), "not a piece of the first side in FEN", text, "N, +P, Q~ and the like"
            )
        if text == "*" and path[0] not in SIDES:
            self._values.complain((*path, "fen"), "* has no side: it is a piece of one", text, "a table [first.X]")
        return text


def _is_wall(table: TomlTable) -> bool:
    """Whether a piece is one that both sides may leave: see `PieceRule.is_wall`."""
    return table.get("immune") is True and not table.get("betza") and not table.get("also")


def _is_leap(leg: Leg) -> bool:
    plain = leg.quiet and leg.capture and not (leg.friendly or leg.en_passant)
    return plain and leg.reach == 1 and not (leg.hop or leg.lame or leg.jump)


def _is_over_empty_squares(pattern: BetzaPattern) -> bool:
    leg = pattern.legs[0]
    if len(pattern.legs) > 1 or pattern.initial or leg.hop or leg.jump:
        return False
    return leg.quiet and not (leg.capture or leg.friendly or leg.en_passant)


def _with_unmoved_rooks(pieces: list[PieceRule]) -> tuple[PieceRule, ...]:
    """The pieces, those that others castle with in the unmoved state too."""
    result = []
    for piece in pieces:
        found = [
            (castling.side, castling.rook_source)
            for king in pieces
            for castling in king.castling
            if castling.rook == piece.token and castling.side in piece.sides
        ]
        if found:
            zone, own = _zone_of(found), piece.unmoved
            if own is not None:
                zone = Zone(own.first | zone.first, own.second | zone.second)
            piece = replace(piece, unmoved=zone)
        result.append(piece)
    return tuple(result)


def _zone_of(squares: Iterable[tuple[Side, str]]) -> Zone:
    found = list(squares)
    return Zone(*(frozenset(square for side, square in found if side == wanted) for wanted in SIDES))
