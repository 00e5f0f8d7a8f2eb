"""A definition -> a section of a variants.ini, and everything of the definition that the section leaves out.

What the options mean is in `options`, which the translation reads and this writes: what is written here, `translate`
reads as the same game.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ggn_store.errors import ConversionError, PositionError, printable, quote
from ggn_store.games.fairy import write_ends
from ggn_store.games.fairy.options import CAMBODIAN, COLOURS, DUTIES
from ggn_store.games.fairy.write_pieces import TRIPLE_STEP, LeftOut, PieceWriter, quiet, said, ways
from ggn_store.games.fen import fen
from ggn_store.games.rules import SIDES, Castling, Definition, PieceRule, Promotion, Wall, Zone
from ggn_store.model.moves.play import Duty
from ggn_store.model.moves.position import Position
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

_NOT_A_NAME: Final = re.compile("[^A-Za-z0-9._+-]", re.ASCII)
_LONGEST: Final = 100
_NO_CHECKS: Final = "no-promotion-checks"
# What is left to players by options that are written for something else.
_READ_AS: Final = {"drop-rights": "dropOppositeColoredBishop", "side-effects": "cambodianMoves", "two-passes": "pass"}


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """The text of a section, with what it leaves out in its comments, too."""

    text: str
    left_out: tuple[LeftOut, ...]


def write(definition: Definition, reference: str) -> WrittenSection:
    """The section of a ruleset's definition; raises ConversionError where Fairy-Stockfish has no such board.

    It is called as the reference is, with its revision, since the engine keeps the names of its own variants.
    """
    name = _NOT_A_NAME.sub("-", reference)[-_LONGEST:].lstrip("._+-")
    return VariantWriter(definition, name or "game").section()


class VariantWriter(PieceWriter):
    """Writes one section."""

    def section(self) -> WrittenSection:
        """Everything, in the order in which the importer's translation speaks of it."""
        self.put("maxRank", str(self.ranks), "board")
        self.put("maxFile", str(self.files), "board")
        for piece in self.plain:
            self._type(piece)
        self._states()
        self._start()
        self._royal_options()
        self._first_moves()
        self._promotions()
        self._around()
        self._castlings()
        self._hands()
        self._immobility()
        self._walls()
        self._duties()
        write_ends.write(self)
        head = [self.definition.title, *(filter(None, [self.definition.source])), *map(str, self.left)]
        comments = [f"# {printable(line)}" for line in head]
        lines = [f"{name} = {value}" for name, value in self.options.items()]
        return WrittenSection("\n".join([*comments, f"[{self.name}]", *lines]) + "\n", tuple(self.left))

    # --- the start position, royal pieces, first moves ---

    def _start(self) -> None:
        text, definition = self.definition.start, self.definition
        if text is None:
            self.leave("start", "there is none, and the engine is given an empty board")
            first, second = definition.styles
            text = f"{'/'.join([str(self.files)] * self.ranks)} / {first}/{second.lower()}"
        try:
            found = fen(Position.from_feen(text), definition)
        except PositionError as error:
            raise ConversionError(f"{self.name}: {error}") from None
        checks = next((each.outcome.count for each in definition.said.ends if each.outcome.when == "checks"), None)
        if checks is not None:
            found = found.removesuffix("0 1") + f"{checks}+{checks} 0 1"
        self.put("startFen", found, "start")

    def _royal_options(self) -> None:
        if self.pseudo_royal:
            self.put("extinctionValue", "loss", "play.duties")
            promoted = [
                piece.token for piece in self.definition.pieces if piece.terminal and piece.token in self.letters
            ]
            self.put("extinctionPieceTypes", self.letters_of([*self.pseudo_royal, *promoted]), "play.duties")
            self.put("extinctionPseudoRoyal", "true", "play.duties")
            made = {token for piece in self.definition.pieces for rule in piece.promotions for token in rule.to}
            if made.intersection(self.pseudo_royal) and not {"spare-royal", "duple-check"} & self.duties:
                self.put("extinctionPieceCount", str(self.files * self.ranks), "play.duties")  # all are royal
        elif {"spare-royal", "duple-check"} & self.duties:
            self.leave("play.duties", "a king is alone in Fairy-Stockfish, and what is said of several is about none")
        if self.has_royal and "mutuallyImmuneTypes" in self.options:
            reason = "types that do not capture each other are for games without royal pieces"
            self.leave("pieces.captures_except", reason, moves=True)

    def _first_moves(self) -> None:
        """Regions of double and triple steps, and captures in passing."""
        steps = False
        for piece in self.plain:
            initial = [pattern for pattern in piece.moves.patterns if pattern.initial]
            if self.kinds[piece.letter] in CAMBODIAN and "no-leap-from-check" in self.duties:
                continue
            zone = piece.initial or piece.unmoved
            steps_of = ways(initial)
            is_pawn = self.kinds[piece.letter] == "pawn"
            if initial and zone is not None:
                if piece.initial is None:
                    reason = "a first move is one from certain squares in Fairy-Stockfish, whoever comes there"
                    self.leave(self.where(piece, "unmoved"), reason, moves=True)
                steps = True
                self.zones("doubleStepRegion", zone, self.where(piece, "initial"), piece.sides)
                if is_pawn and said(TRIPLE_STEP) <= steps_of:
                    self.zones("tripleStepRegion", zone, self.where(piece, "initial"), piece.sides)
            elif is_pawn:
                self.zones("doubleStepRegion", Zone(frozenset(), frozenset()), self.where(piece, "betza"), piece.sides)
            for also in filter(self.is_triple, piece.also):
                start = also.start or Zone(self.squares, self.squares)
                self.zones("tripleStepRegion", start, self.where(piece, "also"), piece.sides)
        self.put("doubleStep", str(steps).lower(), "pieces")
        self._en_passant(steps)

    def _en_passant(self, steps: bool) -> None:
        takers = self.takers()
        self.put("enPassantTypes", "".join(takers).lower() or "-", "pieces")
        for side, other in zip(SIDES, reversed(SIDES), strict=True):
            passers = [piece for piece in self.plain if side in piece.sides and piece.en_passant is not None]
            takes = any(other in sides for sides in takers.values())
            if not (passers and takes):
                if steps or takes:  # without it, the engine's FEN names squares that nothing takes on
                    self.put(f"enPassantRegion{COLOURS[other]}", "-", "pieces")
                continue
            # The options name the squares of the side that captures, for all that it captures.
            for piece in passers:
                if piece.en_passant is not None and piece.en_passant.of(side) != self.squares:
                    squares = self.region(piece.en_passant.of(side))
                    self.put(f"enPassantRegion{COLOURS[other]}", squares, self.where(piece, "en_passant"))
            for piece in self.plain:
                is_first = any(pattern.initial for pattern in piece.moves.patterns)
                if is_first and side in piece.sides and piece.en_passant is None:
                    self.leave(self.where(piece, "en_passant"), "all first moves are captured in passing", moves=True)

    # --- promotions ---

    def _promotions(self) -> None:
        pawns: dict[Side, dict[str, PieceRule]] = {side: {} for side in SIDES}
        for piece in self.definition.pieces:
            rules = self._merged(piece)
            where = self.where(piece, "promotion")
            moves = any(rule.is_a_move for rule in rules) and self._promotion_moves(piece, rules, where)
            for rule in () if moves else rules[1:]:
                self.leave(where, f"a piece has one promotion: not {quote(', '.join(rule.to))}", moves=True)
            for rule in rules[:1]:
                if {*rule.to} <= self.walls:
                    self._petrify(piece, rule, where)
                elif rule.to == (f"+{piece.letter}",):
                    self._piece_promotion(piece, rule, where)
                elif piece.state == "+" and rule.to == (piece.letter,):
                    self.put("pieceDemotion", "true", where)
                    self._piece_promotion(piece, rule, where)
                elif self._pawn_promotion(piece, rule, where):
                    pawns |= {side: pawns[side] | {piece.letter: piece} for side in piece.sides}
        names = {side: "".join(pawns[side]).lower() or "-" for side in SIDES}
        self.of_sides("promotionPawnTypes", names["first"], names["second"], "pieces")
        for side in SIDES:
            known = {"promotionPieceTypes", f"promotionPieceTypes{COLOURS[side]}"}
            if not known & self.options.keys():
                self.put(f"promotionPieceTypes{COLOURS[side]}", "-", "pieces")
        self.options.setdefault("mandatoryPawnPromotion", "false")
        self._limits()

    def _around(self) -> None:
        """What a move, a drop or a promotion has to do with other squares: it is read, and not written."""
        for piece in self.definition.pieces:
            drop = piece.drop
            keys = {
                "blast": piece.blast.moves.patterns,
                "turns": piece.turns.patterns,
                "drop.near": drop and drop.near.patterns,
                "drop.lone": drop and drop.lone,
                "drop.encloses": drop and drop.encloses.patterns,
                "drop.apart": drop and drop.apart.patterns,
                "drop.other_colour": drop and drop.other_colour and self.kinds[piece.letter] != "bishop",
                "promotion.unique": any(each.unique for each in piece.promotions),
            }
            for key in (key for key, written in keys.items() if written):
                self.leave(self.where(piece, key), "no option is written for it", moves=True)

    def _merged(self, piece: PieceRule) -> Sequence[Promotion]:
        """The promotions of a piece; one that is forced where it could not move on and one that is not are one."""
        if len(piece.promotions) != 2:
            return piece.promotions
        far, near = piece.promotions
        same = replace(far, zone=near.zone, forced="no") == near and far.forced == "yes"
        if not same or any(self._moves_on(piece, side, square) for side in piece.sides for square in far.zone.of(side)):
            return piece.promotions
        zone = Zone(far.zone.first | near.zone.first, far.zone.second | near.zone.second)
        return (replace(near, zone=zone, forced="immobile"),)

    def _moves_on(self, piece: PieceRule, side: Side, square: str) -> bool:
        army = self.definition.army(side)
        form = army.plain(piece.token)
        return form is not None and army.is_mobile(form, square)

    def _zone(self, rule: Promotion, piece: PieceRule, where: str) -> None:
        everything = Zone(self.squares, self.squares)
        self.zones("promotionRegion", everything if rule.on == "any" else rule.zone, where, piece.sides)

    def _piece_promotion(self, piece: PieceRule, rule: Promotion, where: str) -> None:
        self._zone(rule, piece, where)
        if rule.start is not None:
            self.leave(where, "a piece promotes wherever its move begins, in Fairy-Stockfish", moves=True)
        forced = str(rule.forced == "yes").lower()
        self.put("mandatoryPiecePromotion", forced, where)
        if self.kinds[piece.letter] == "pawn":  # whose moves the engine makes apart from others
            self.put("mandatoryPawnPromotion", forced, where)
        self.put("piecePromotionOnCapture", str(rule.capturing).lower(), where)
        if rule.forced == "immobile":
            self.immobile.append(piece)
        if rule.on == "enter" and any(self._leaves(piece, side, rule.zone.of(side)) for side in piece.sides):
            self.leave(where, "a piece promotes when it leaves the zone, too, in Fairy-Stockfish", moves=True)

    def _leaves(self, piece: PieceRule, side: Side, zone: frozenset[str]) -> bool:
        """Whether a piece can move out of a zone."""
        army = self.definition.army(side)
        form = army.plain(piece.token)
        return form is not None and any(
            route.destination not in zone for square in zone for route in army.ways(form, square)
        )

    def _pawn_promotion(self, piece: PieceRule, rule: Promotion, where: str) -> bool:
        """Write a promotion to other pieces, if options can name one of them."""
        others = {*self.letters} - {piece.letter}
        odd = [token for token in rule.to if token[0] == "+" or token.strip("-") not in others]
        if rule.forced == "immobile":
            self.immobile.append(piece)
        if odd or piece.state or rule.capturing or rule.on == "enter-or-leave":
            self.leave(where, "no option says this of a promotion to other pieces", moves=True)
        if len(odd) == len(rule.to):
            return False
        if not rule.is_a_move:
            self._zone(rule, piece, where)
            self.put("mandatoryPawnPromotion", str(rule.forced == "yes").lower(), where)
        targets = "".join(token.strip("+-").lower() for token in rule.to if token not in odd)
        sides = [f"promotionPieceTypes{COLOURS[side]}" for side in piece.sides]
        for name in ["promotionPieceTypes"] if len(sides) > 1 else sides:
            self.put(name, targets, where)
        if self.definition.captures:
            self.put("dropLoop", str(not any(token[0] == "-" for token in rule.to)).lower(), where)
        return True

    def _promotion_moves(self, piece: PieceRule, rules: Sequence[Promotion], where: str) -> bool:
        """Promotions that are moves: of pawns that stand in a zone, and of the only one of its side."""
        everything = Zone(self.squares, self.squares)
        near, start = rules[0], rules[0].start or everything
        made = next((each.moves.betza for each in self.plain if (each.token,) == near.to), "")
        usual = replace(near, moves=replace(near.moves, betza=f"m{made}"), apart=replace(near.apart, betza=made))
        if [*rules] != [usual, replace(usual, start=None, alone=True)] or not near.in_place or near.on != "any":
            self.leave(where, "a pawn moves as what it becomes, from a zone or if it is alone", moves=True)
        if not any(duty.name == _NO_CHECKS for duty in self.definition.said.duties):
            self.leave(where, "no promotion that is a move gives check in Fairy-Stockfish", moves=True)
        self.put("sittuyinPromotion", "true", where)
        self.zones("promotionRegion", start, where, piece.sides)
        return True

    def _limits(self) -> None:
        options = [value for name, value in self.options.items() if name.startswith("promotionPieceTypes")]
        targets = set("".join(options)) - {"-"}
        royal = {letter.lower() for letter in self.king + self.pseudo_royal}
        chosen = targets if "promotion-limit" in self.duties else targets & royal
        if {"promotion-limit", "royal-promotion-limit"} & self.duties and chosen:
            counts = {letter: max(self.count(letter.upper(), side) for side in SIDES) for letter in sorted(chosen)}
            self.put("promotionLimit", " ".join(f"{letter}:{n}" for letter, n in counts.items()), "play.duties")

    # --- castling ---

    def _castlings(self) -> None:
        found = [(piece, each) for piece in self.plain for each in piece.castling if each.side in piece.sides]
        self.put("castling", str(bool(found)).lower(), "pieces")
        rooks = "".join(dict.fromkeys(each.rook.lower() for _, each in found))
        if rooks:
            self.put("castlingRookPieces", rooks, "pieces")
        if self.definition.castles_anywhere:
            self._anywhere([each for _, each in found], self.where(found[0][0], "castling"))
        for piece, each in found:
            self._castling(each, self.where(piece, "castling"))
            if self.kinds[piece.letter] == "king":
                continue
            if "king" in self.kinds.values():
                self.leave(self.where(piece, "castling"), "the engine lets the king castle instead", moves=True)
            else:
                self.put("castlingKingPiece", piece.letter.lower(), self.where(piece, "castling"))

    def _castling(self, each: Castling, where: str) -> None:
        (king, rank), (to, to_rank), (rook, rook_rank), (rook_to, rook_to_rank) = map(
            cell.parse, (each.source, each.destination, each.rook_source, each.rook_destination)
        )
        east = rook > king
        side = "King" if east else "Queen"
        self.put("castlingRank", str((rank if each.side == "first" else self.ranks - 1 - rank) + 1), where)
        self.put(f"castling{side}sideFile", cell.text((to, 0))[0], where)
        if not self.definition.castles_anywhere:
            self.put("castlingKingFile", cell.text((king, 0))[0], where)
            self.put(f"castlingRook{side}sideFile", cell.text((rook, 0))[0], where)
        passed = {(x, rank) for a, b in ((king, to), (rook, rook_to)) for x in range(min(a, b), max(a, b) + 1)}
        empty = {cell.text(point) for point in passed} - {each.source, each.rook_source}
        usual = rook_to == (to - 1 if east else to + 1) and len({rank, to_rank, rook_rank, rook_to_rank}) == 1
        if not usual or empty != set(each.empty):
            self.leave(where, "the rook goes to the square beside the king, and their ways are empty", moves=True)

    def _anywhere(self, found: list[Castling], where: str) -> None:
        """Castling from several squares is from all of the rank in the engine."""
        self.put("chess960", "true", where)
        files = range(self.files)
        pairs = {(king, rook) for king in files[1:-1] for rook in files if king != rook}
        for side in {each.side for each in found}:
            ends = {
                (cell.parse(each.source)[0], cell.parse(each.rook_source)[0]) for each in found if each.side == side
            }
            if ends != pairs:
                self.leave(where, "kings and rooks castle from all squares of their rank, or from one", moves=True)

    # --- hands ---

    def _hands(self) -> None:
        droppable = [piece for piece in self.plain if piece.drop is not None]
        gates = [piece for piece in self.plain if piece.gating]
        self.put("pieceDrops", str(bool(droppable)).lower(), "pieces")
        self.put("capturesToHand", str(self.definition.captures).lower(), "hands")
        if gates:
            self.put("gating", "true", "pieces")
            self.put("seirawanGating", "true", "pieces")
        if droppable:
            self._drop_zones(droppable)
        limits = {piece.letter.lower(): self._limit(piece, bool(droppable)) for piece in self.plain}
        limited = {letter: count for letter, count in limits.items() if count is not None}
        if limited:
            self.put("dropNoDoubled", "".join(limited), "pieces")
        for letter, count in limited.items():
            self.put("dropNoDoubledCount", str(count), f"pieces.{letter.upper()}.drop")
        if any(piece.drop is not None and piece.drop.on_top for piece in droppable):
            self.put("dropOnTop", "true", "pieces")
        for piece in droppable:
            self._drop(piece)
        for piece in self.definition.pieces:
            self._held(piece)

    def _limit(self, piece: PieceRule, drops: bool) -> int | None:
        """How many of a piece a file may hold after a drop: none, where it is never dropped though it is in a hand."""
        if piece.drop is not None:
            return piece.drop.file_limit
        return 0 if drops and self.definition.captures and not piece.terminal else None

    def _drop(self, piece: PieceRule) -> None:
        if piece.drop is None:
            return
        where = self.where(piece, "drop")
        promotes = f"+{piece.letter}" in self.letters
        forms = set(piece.drop.forms or (piece.letter,))
        if promotes:
            self.put("dropPromoted", str(f"+{piece.letter}" in forms).lower(), where)
        if forms not in ({piece.letter}, {piece.letter, f"+{piece.letter}"}):
            self.leave(where, f"it is dropped as {', '.join(sorted(forms))}", moves=True)
        if piece.drop.on_top != ("dropOnTop" in self.options):
            self.leave(where, "the option dropOnTop is about all pieces", moves=True)
        if not piece.drop.immobile:
            self.immobile.append(piece)
        if piece.drop.unmoved:
            self.put("castlingDroppedPiece", "true", where)
        if piece.drop.other_colour:
            self.put("dropOppositeColoredBishop", "true", where)

    def _held(self, piece: PieceRule) -> None:
        """What goes to the hand: pieces unpromoted, and pawns for what they had become."""
        if not self.definition.captures or piece.terminal:
            return
        pawns = [each.letter for each in self.plain if any(f"-{piece.letter}" in rule.to for rule in each.promotions)]
        usual = pawns if piece.state == "-" else [piece.letter]
        if piece.hand not in usual:
            self.leave(self.where(piece, "hand"), "captured pieces go to the hand as what they were", moves=True)

    def _drop_zones(self, droppable: Sequence[PieceRule]) -> None:
        """One region of drops, with what options say of pawns beyond it."""
        for side in SIDES:
            own = {piece.letter: self._drop_zone(piece, side) for piece in droppable if side in piece.sides}
            usual = [zone for letter, zone in own.items() if self.kinds[letter] != "pawn"]
            everywhere = frozenset[str]().union(*(usual or own.values()))
            if everywhere != self.squares:
                name = "whiteDropRegion" if side == "first" else "blackDropRegion"
                self.put(name, self.region(everywhere), "pieces")
            for piece in droppable:
                if piece.letter not in own:
                    continue
                confined = self.squares if piece.confined is None else piece.confined.of(side)
                if self.kinds[piece.letter] == "pawn":
                    self._pawn_drops(own[piece.letter], everywhere & confined, side, self.where(piece, "drop"))
                elif own[piece.letter] == everywhere & confined:
                    continue
                elif self.kinds[piece.letter] == "rook" and own[piece.letter] == everywhere & self._first(side):
                    self.put("sittuyinRookDrop", "true", self.where(piece, "drop"))
                else:
                    reason = "the region of drops is for all pieces"
                    self.leave(self.where(piece, "drop"), reason, moves=True)

    def _drop_zone(self, piece: PieceRule, side: Side) -> frozenset[str]:
        zone = self.squares if piece.drop is None or piece.drop.zone is None else piece.drop.zone.of(side)
        return zone if piece.confined is None else zone & piece.confined.of(side)

    def _pawn_drops(self, zone: frozenset[str], region: frozenset[str], side: Side, where: str) -> None:
        first = self._first(side)
        promotion = {
            square
            for piece in self.plain
            for rule in piece.promotions
            if side in piece.sides
            for square in rule.zone.of(side)
        }
        for on_first in (True, False):
            for on_promotion in (True, False):
                if zone == region - (set() if on_first else first) - (set() if on_promotion else promotion):
                    self.put("firstRankPawnDrops", str(on_first).lower(), where)
                    self.put("promotionZonePawnDrops", str(on_promotion).lower(), where)
                    return
        reason = "pawns are dropped in the region, but for their first rank and where they promote"
        self.leave(where, reason, moves=True)

    def _first(self, side: Side) -> frozenset[str]:
        """The first rank of a side."""
        rank = 0 if side == "first" else self.ranks - 1
        return frozenset(square for square in self.squares if cell.parse(square)[1] == rank)

    def _immobility(self) -> None:
        """One option forbids that any piece moves or is dropped where it could not move on."""
        if not self.immobile:
            return
        self.put("immobilityIllegal", "true", "pieces")
        for piece in self.plain:
            if piece not in self.immobile and piece.moves.patterns:
                stuck = {square for side in piece.sides for square in self._stuck(piece, side)}
                if stuck:
                    reason = f"no piece may be where it could not move on: {', '.join(sorted(stuck))}"
                    self.leave(self.where(piece, "betza"), reason, moves=True)

    def _stuck(self, piece: PieceRule, side: Side) -> list[str]:
        """The squares where a piece may come to be, and could not move on."""
        confined = self.squares if piece.confined is None else piece.confined.of(side)
        promotes = [each.zone.of(side) for each in piece.promotions if each.forced == "yes"]
        free = confined.difference(*promotes)
        squares = [square for square in free if not self._moves_on(piece, side, square)]
        return squares if squares and self._comes(piece, side, squares) else []

    def _comes(self, piece: PieceRule, side: Side, squares: Sequence[str]) -> bool:
        """Whether a piece can come to one of these squares, by a move or a drop."""
        army = self.definition.army(side)
        form = army.plain(piece.token)
        if form is None:
            return False
        dropped = piece.drop is not None and any(square in self._drop_zone(piece, side) for square in squares)
        sources = self.squares - set(squares)
        return dropped or any(route.destination in squares for each in sources for route in army.ways(form, each))

    # --- walls ---

    def _walls(self) -> None:
        """One rule of walls for all moves of all pieces."""
        walled = [piece for piece in self.plain if piece.wall is not None]
        for piece in self.plain:
            if piece.wall is not None:
                self._wall(piece, piece.wall, self.where(piece, "wall"))
            elif walled and any(also.moves.patterns for also in piece.ways):
                self.leave(self.where(piece, "wall"), "each move of every piece leaves a wall, or none", moves=True)
        if walled and self.has_royal:
            self.leave("play.duties", "walls shield no royal piece in Fairy-Stockfish", moves=True)

    def _wall(self, piece: PieceRule, wall: Wall, where: str) -> None:
        if wall.piece not in self.walls:
            self.leave(where, f"only a wall can be left: {wall.piece} is none (betza, immune, fen)", moves=True)
            return
        rule = "past" if wall.past else "arrow" if wall.moves.patterns else "static"
        if rule == "arrow" and ways(wall.moves.patterns) != quiet(piece.moves.patterns):
            self.leave(where, "an arrow goes as its piece does in Fairy-Stockfish", moves=True)
        self.put("wallingRule", rule, where)
        self.zones("wallingRegion", wall.zone or Zone(self.squares, self.squares), where, piece.sides)

    def _petrify(self, piece: PieceRule, rule: Promotion, where: str) -> None:
        """The option of a piece that is a wall once it has captured."""
        if not (rule.on == "any" and rule.capturing and rule.forced == "yes") or piece.state:
            self.leave(where, "a piece turns to stone with each of its captures, and no other way", moves=True)
        before = self.options.get("petrifyOnCaptureTypes", "")
        self.options["petrifyOnCaptureTypes"] = before + piece.letter.lower()

    # --- duties ---

    def _duties(self) -> None:
        """The switches that the importer reads as duties; those of royal pieces and of pawns are said elsewhere."""
        elsewhere = {"royal-safety", "clear-marks", "spare-royal", "promotion-limit", "royal-promotion-limit"}
        switches: dict[str, tuple[str, str]] = {}
        for option, (value, name) in DUTIES.items():
            switches.setdefault(name, (option, value))
        for duty in self.definition.said.duties:
            if duty.name in elsewhere:
                continue
            ends_moves = duty.name == _NO_CHECKS and "sittuyinPromotion" not in self.options
            if duty.name not in switches or ends_moves:
                self.leave("play.duties", f"no option says {duty.name}", moves=True)
                continue
            self.put(*switches[duty.name], "play.duties")
            self._beside(duty)
        if self.definition.cylinder:
            self.leave("cylinder", "no board of Fairy-Stockfish wraps round", moves=True)
        for name in self.definition.said.host:
            if _READ_AS.get(name) not in self.options:
                self.leave("host", f"{name} is left to the players, and no option is known to say it")

    def _beside(self, duty: Duty) -> None:
        """What else is to be said of a duty."""
        if duty.name == "mandatory-drop" and duty.pieces:
            self.put("mustDropType", letters := self.letters_of(duty.pieces), "play.duties")
            if len(letters) > 1:
                self.leave("play.duties", "mandatory-drop is about one type of pieces, or all", moves=True)
        if duty.name == "no-leap-from-check":
            self.put("gating", "true", "play.duties")  # or the start position does not say what has not moved
        if duty.name == "no-drop-mate" and "shogiPawn" not in self.options:
            self.leave("play.duties", "no-drop-mate is about shogi pawns, and this game has none", moves=True)
