"""What all parts of a translation know of a variant: its board, start, castlings, zones, pawns."""

from __future__ import annotations

import re

from ggn_store.games.fairy import toml
from ggn_store.games.fairy.options import BEYOND, CAMBODIAN, COLOURS, sides
from ggn_store.games.fairy.settings import Settings
from ggn_store.games.fairy.start import StartPosition
from ggn_store.games.rules import SIDES
from ggn_store.model.documents.board import Board
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

_SIDEWAYS = re.compile("[lr]")


class BaseVariant:
    """A variant's options and start position, and the zones and duties that its definition has so far."""

    def __init__(self, name: str, settings: Settings, start: StartPosition, source: str) -> None:
        self.name = name
        self.s = settings
        self.start = start
        self.source = source
        squares = [cell.text((x, y)) for y in range(settings.ranks) for x in range(settings.files)]
        self.squares = [square for square in squares if square not in start.holes]
        self.board = Board(tuple(self.squares))
        self.drops = settings.flag("pieceDrops")
        self.captures = self.drops and settings.flag("capturesToHand")
        # Fairy-Stockfish's left and right are those of the player.
        self.turned = any(_SIDEWAYS.search(betza or "") for _, betza in settings.types.values())
        self.host: list[str] = []
        self.zones: dict[str, str] = {}
        self.promoted = {
            letter: target.upper()
            for letter, target in settings.pairs("promotedPieceType").items()
            if letter in settings.letter_types and target.upper() in settings.letter_types
        }
        self.terminal = self._terminal()
        self.castlers = {**self.start.board, **self._dropped_castlers()}
        self.castlings = self._castlings()
        self.unmoved = self._unmoved()
        self.targets = {side: self._targets(side) for side in SIDES}
        castling = [each[end] for found in self.castlings.values() for each in found for end in ("from", "with")]
        self.begin_unmoved = {*self.unmoved, *(self.castlers[square].upper() for square in castling)}

    def promoted_token(self, letter: str) -> str:
        """What the definition calls a piece once it is promoted, beside one that has not moved."""
        return f"-{letter}" if letter in self.begin_unmoved else f"+{letter}"

    def image(self, square: str) -> str:
        """A square of the first side as the second has it."""
        x, y = cell.parse(square)
        return cell.text((self.s.files - 1 - x if self.turned else x, self.s.ranks - 1 - y))

    def _terminal(self) -> str:
        letters = self.s.letter("king")
        self.may_lose_royal = False
        if self.s.flag("extinctionPseudoRoyal"):
            found = self.s.letters("extinctionPieceTypes")
            letters += found
            # They are royal as long as there are no more of them than one beyond this number.
            spared = self.s.number("extinctionPieceCount", 0)
            several = any(len(self.start.squares(letter, side)) > spared + 1 for letter in found for side in SIDES)
            made = {*self.promoted.values(), *"".join(map(self._targets, SIDES))}
            is_enough = spared + 1 >= len(self.board.squares)
            if any(self.promoted.get(letter, letter) not in found for letter in found):
                self.s.refuse("extinctionPieceTypes")
            self.may_lose_royal = not is_enough and (several or not made.isdisjoint(found))
            if self.may_lose_royal:
                if any(len(self._kinds(letters, side)) > 1 for side in SIDES):
                    self.s.refuse("extinctionPseudoRoyal")
                if spared:
                    self.s.refuse("extinctionPieceCount")
                elif not self.s.flag("dupleCheck"):
                    self.s.leave("extinctionPseudoRoyal", "spare-royal")
        return letters

    def _kinds(self, letters: str, side: Side) -> set[str]:
        """Those of some pieces that a side has, or gets by a pawn; what one of them becomes is counted as that one."""
        tokens = {token.strip("+~") for token in (*self.start.board.values(), *self.start.hands)}
        own = {token.upper() for token in tokens if token.isupper() == (side == "first")} | {*self._targets(side)}
        return own.intersection(letters) - {self.promoted.get(each) for each in letters}

    def _castlings(self) -> dict[Side, list[dict[str, str]]]:
        """The castlings of each side that the start position has the right to."""
        found: dict[Side, list[dict[str, str]]] = {}
        if not self.s.flag("castling", True):
            return found
        usual = self.s.letter("king") or self.s.letter("commoner")
        rank = self.s.number("castlingRank", 1) - 1
        for side in SIDES:
            name = f"castlingKingPiece{COLOURS[side]}"
            king = (self.s.value(name) or usual).upper()
            if self.s.letter("king") not in ("", king):
                self.s.refuse(name, BEYOND["castlingKingPiece"][1])
            rooks = self._types("castlingRookPieces", side, self.s.letter("rook"))
            row = rank if side == "first" else self.s.ranks - 1 - rank
            own = [letter.upper() for letter in self.start.rights if letter.isupper() == (side == "first")]
            own = ["K", "Q"] if self.s.flag("castlingDroppedPiece") else own
            named = king if side == "first" else king.lower()
            kings = sorted(square for square, token in self.castlers.items() if token == named)
            kings = [square for square in kings if cell.parse(square)[1] == row]
            if len(kings) > 1:
                file = self.s.file("castlingKingFile", 4)
                kings = [square for square in kings if cell.parse(square)[0] == file]
            if not own or not kings:
                continue
            for east, letter in ((True, "K"), (False, "Q")):
                rook = self._rook(side, row, cell.parse(kings[0])[0], east, rooks)
                if letter in own and rook is not None:
                    found.setdefault(side, []).append(self._castling(kings[0], rook, row, east))
        return found

    def _dropped_castlers(self) -> dict[str, str]:
        """Where a king and rooks have not moved if they are dropped there."""
        if not self.s.flag("castlingDroppedPiece"):
            return {}
        king, rook = self.s.letter("king") or self.s.letter("commoner"), self.s.letter("rook")
        file = self.s.file("castlingKingFile", 4)
        found = {}
        for row, case in ((0, str.upper), (self.s.ranks - 1, str.lower)):
            found[cell.text((file, row))] = case(king)
            found |= {cell.text((x, row)): case(rook) for x in (0, self.s.files - 1)}
        return found

    def _rook(self, side: Side, row: int, king: int, east: bool, letters: str) -> str | None:
        """The square of the outermost castling piece on one side of the king."""
        edge = self.s.files - 1 if east else 0
        outermost = self.s.file("castlingRookKingsideFile" if east else "castlingRookQueensideFile", edge)
        step = -1 if east else 1
        for x in range(min(outermost, edge) if east else outermost, king, step):
            token = self.castlers.get(cell.text((x, row)), "")
            if token.upper() in letters and token and token.isupper() == (side == "first"):
                return cell.text((x, row))
        return None

    def _castling(self, king: str, rook: str, row: int, east: bool) -> dict[str, str]:
        default = 6 if east else 2
        file = self.s.file("castlingKingsideFile" if east else "castlingQueensideFile", default)
        to, with_to = cell.text((file, row)), cell.text((file - 1 if east else file + 1, row))
        entry = {"from": king, "to": to, "with": rook, "with_to": with_to}
        piece = self.castlers[rook].upper()
        if piece != "R":
            entry["rook"] = piece
        passed = [*self._between(king, to), *self._between(rook, with_to)]
        entry["empty"] = toml.texts(square for square in dict.fromkeys(passed) if square not in (king, rook))
        return entry

    @staticmethod
    def _between(one: str, other: str) -> list[str]:
        (a, row), (b, _) = cell.parse(one), cell.parse(other)
        return [cell.text((x, row)) for x in range(min(a, b), max(a, b) + 1)]

    def _unmoved(self) -> dict[str, dict[Side, list[str]]]:
        """The squares of each letter whose pieces begin unmoved, apart from castling."""
        found: dict[str, dict[Side, list[str]]] = {}
        # Only with `gating` the engine reads what has not moved.
        gating, cambodian = self.s.flag("seirawanGating"), self.s.flag("cambodianMoves") and self.s.flag("gating")
        if not (gating or cambodian):
            return found
        for right in self.start.rights:
            side: Side = "first" if right.isupper() else "second"
            row = 0 if side == "first" else self.s.ranks - 1
            if gating and right in "KQkq":
                continue
            square = cell.text((ord(right.upper()) - ord("A"), row))
            letter = self.start.board.get(square, "").upper()
            if letter:
                found.setdefault(letter, {"first": [], "second": []})[side].append(square)
        if cambodian:
            self.host.append("side-effects")
        return found

    def _targets(self, side: Side) -> str:
        return self._types("promotionPieceTypes", side)

    def _types(self, name: str, side: Side, default: str = "") -> str:
        return self.s.letters(f"{name}{COLOURS[side]}", default)

    def _passes(self, letter: str) -> bool:
        """Whether a piece captures in passing; of which only one side's does is refused."""
        name = "enPassantTypes"
        found = {side: letter in self._types(name, side, self.s.pawn_types) for side in SIDES}
        if len({*found.values()}) > 1:
            self.s.refuse(next(each for each in sides(name) if each in self.s.options), BEYOND[name][1])
        # Whatever the option says, the type of this name does where squares let it.
        return any(found.values()) or (letter in self.s.letter("pawn") and any(self._passed()))

    def letters(self) -> list[str]:
        """The letters that the game needs: what stands at the start or is held, and what that may become."""
        tokens = [*self.start.board.values(), *self.start.hands]
        needed = {token.strip("+~").upper() for token in tokens}
        for side in SIDES:
            if needed & set(self._pawns(side)):
                needed |= set(self.targets[side])
        order = [letter for letter, _ in self.s.types.values() if letter in needed]
        pawns, kings = self.s.pawn_types, self.terminal
        return sorted(order, key=lambda letter: (letter not in kings, letter in pawns))

    def leaps_first(self, letter: str) -> bool:
        """Whether a piece leaps as long as it has not moved, as in Cambodian chess."""
        return self.s.flag("cambodianMoves") and self.s.letter_types[letter] in CAMBODIAN and letter in self.unmoved

    # --- zones ---

    def _ranks(self, side: Side, rank: int) -> frozenset[str]:
        """The squares from a rank on, as a side counts its ranks."""
        ranks = range(rank - 1, self.s.ranks) if side == "first" else range(self.s.ranks - rank + 1)
        return frozenset().union(*(self.s.rank(y) for y in ranks)) & set(self.squares)

    def _steps(self, name: str, side: Side) -> frozenset[str]:
        default: frozenset[str] = frozenset()
        if name == "doubleStepRegion":
            # On a small board the seventh rank, where the other side's pawns start, is none.
            default = self.s.rank(1 if side == "first" else 6) if side == "first" or self.s.ranks > 6 else default
        return self.s.region(f"{name}{COLOURS[side]}", default) & frozenset(self.squares)

    def _initial(self) -> str:
        """The zone in which first moves are made."""
        zones = [self._steps("doubleStepRegion", side) | self._steps("tripleStepRegion", side) for side in SIDES]
        self.zones["home"] = toml.zone(zones, self.image)
        return "home"

    def _first_steps(self, name: str) -> str:
        """The zone of double or triple steps, where these are not one."""
        zone = f"{name}-steps"
        self.zones[zone] = toml.zone((self._steps(f"{name}StepRegion", side) for side in SIDES), self.image)
        return zone

    def _passed(self) -> list[frozenset[str]]:
        """The squares on which pieces of each side can be captured in passing."""
        everything = frozenset(self.squares)
        # The options name the squares of the side that captures.
        return [self.s.region(f"enPassantRegion{COLOURS[side]}", everything) & everything for side in reversed(SIDES)]

    def _en_passant(self) -> str:
        self.host.append("clear-marks")
        zones = self._passed()
        if all(zone == frozenset(self.squares) for zone in zones):
            return "en_passant = true"
        if not any(zones):
            return "en_passant = false"
        self.zones["passed"] = toml.zone(zones, self.image)
        return 'en_passant = "passed"'

    def _pawns(self, side: Side) -> str:
        """What promotes as pawns do: what options name, and the type of this name in any case if the side has it."""
        named = self._types("promotionPawnTypes", side, self.s.pawn_types)
        pawn = self.s.letter("pawn")
        return named if pawn in named or not (self.captures or self._kinds(pawn, side)) else named + pawn

    def _promotion_region(self, side: Side) -> frozenset[str]:
        default: frozenset[str] = self.s.rank(0) if side == "second" else frozenset()
        if side == "first" and self.s.ranks > 7:
            default = self.s.rank(7)
        return self.s.region(f"promotionRegion{COLOURS[side]}", default) & frozenset(self.squares)

    def _promotion_zone(self) -> str:
        zones = [self._promotion_region(side) for side in SIDES]
        if not any(zones):
            return ""
        self.zones["promotion"] = toml.zone(zones, self.image)
        return "promotion"
