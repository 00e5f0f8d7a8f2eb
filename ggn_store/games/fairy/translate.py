"""A variant's options -> the text of its definition, and what no definition can say of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from ggn_store.errors import did_you_mean, quote
from ggn_store.games.fairy import counts, ends, toml
from ggn_store.games.fairy.around import Around
from ggn_store.games.fairy.ini import Option
from ggn_store.games.fairy.options import BEYOND, COLOURS, DUTIES, KNOWN, OF_KINGS, REFUSED, VALUES, sides
from ggn_store.games.fairy.piece_moves import spelled
from ggn_store.games.fairy.settings import Refusal, Settings
from ggn_store.games.fairy.start import free_drops, read_start
from ggn_store.games.rules import SIDES
from ggn_store.games.tables import MAX_FILE_LIMIT
from ggn_store.model.moves import play
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

STYLE: Final = "C"
_EMPTY: Final = "."


def translate(name: str, options: Mapping[str, Option], source: str) -> tuple[str, list[Refusal]]:
    """The definition of a variant in TOML, and its refusals; with any that no host can take over, it is not whole."""
    settings = Settings(options)
    _classify(settings)
    _check_passes(settings)
    settings.check_letters()
    start = read_start(settings)
    free_drops(settings, start)
    translation = _Translation(name, settings, start, source)
    text = translation.text()
    refusals = [counts.counted(refusal, translation, text) for refusal in settings.refusals]
    return text, sorted(refusals, key=lambda refusal: (refusal.line or 0, refusal.option))


def _classify(settings: Settings) -> None:
    for name, option in settings.options.items():
        value = option.value
        if name in VALUES and value not in VALUES[name]:
            settings.refuse(name, f"{quote(value)} is not one of {', '.join(VALUES[name])}")
        elif name in REFUSED:
            neutral, tier, reason = REFUSED[name]
            if value not in (neutral, "-", ""):
                settings.refuse(name, reason, tier)
        elif name in DUTIES:
            active, duty = DUTIES[name]
            if value not in ("true", "false"):
                settings.refuse(name, "a switch is true or false")
            elif value == active and not _is_idle(settings, name):
                settings.leave(name, duty)
        elif name not in KNOWN:
            settings.refuse(name, f"no such option is known{did_you_mean(name, KNOWN)}", "?")


def _is_idle(settings: Settings, name: str) -> bool:
    """Whether a switch changes nothing: it is about a king, or the engine reads nothing that has not moved."""
    if name == "cambodianMoves":
        return not settings.flag("gating")
    return name in OF_KINGS and not settings.letter("king")


def _check_passes(settings: Settings) -> None:
    for name in ("pass", "passOnStalemate"):
        one, other = sides(name)
        if settings.flag(one) != settings.flag(other):
            settings.refuse(one if settings.flag(one) else other, BEYOND[name][1])


def _inline(parts: Iterable[str]) -> str:
    return f"{{ {', '.join(parts)} }}"


class _Translation(Around):
    """Writes one definition."""

    def text(self) -> str:
        tables = [line for letter in self.letters() for line in self._tables(letter)] + self.wall_table()
        head = [
            f"title = {toml.text(self.name)}",
            f"source = {toml.text(self.source)}",
            f'tier = "{"B" if self.castlings or self.unmoved or "clear-marks" in self.host else "A"}"',
            f'board = "{self.s.files}x{self.s.ranks}"'
            if not self.start.holes and self.s.ranks > 1
            else f"squares = {toml.texts(toml.rectangles(self.squares))}",
            *(["turned = true"] if self.turned else []),
            f'style = "{STYLE}"',
            f"start = {toml.text(self._feen())}",
        ]
        if self.terminal:
            self.host.insert(0, "royal-safety")
        self.check_around()
        self._check_together()
        outcomes, left = ends.ends(self)
        self.host += [refusal.duty for refusal in self.s.refusals if refusal.duty is not None]
        duties = [self._duty(duty) for duty in dict.fromkeys(self.host) if duty in play.DUTIES]
        if left := list(dict.fromkeys([*(duty for duty in self.host if duty in play.HOST_DUTIES), *left])):
            head.append(f"host = {toml.texts(left)}")
        if duties or outcomes:
            head += ["", "[play]", *([f"duties = [{', '.join(duties)}]"] if duties else []), *ends.text(outcomes)]
        if self.captures:
            head += ["", "[hands]", "captures = true"]
        if self.zones:
            head += ["", "[zones]", *(f"{name} = {value}" for name, value in self.zones.items())]
        return "\n".join([*head, *tables]) + "\n"

    # --- the whole game ---

    def _duty(self, name: str) -> str:
        """A duty, with the pieces that an option limits it to."""
        letter = self.s.value("mustDropType", "*").strip() if name == "mandatory-drop" else "*"
        if letter in ("*", "-", ""):
            return toml.text(name)
        return _inline((f"name = {toml.text(name)}", f"pieces = {toml.texts(ends.tokens_of(self, letter.upper()))}"))

    def _feen(self) -> str:
        rows = []
        unmoved = {square for squares in self.unmoved.values() for each in squares.values() for square in each}
        castlings = [entry for found in self.castlings.values() for entry in found]
        unmoved |= {entry[end] for entry in castlings for end in ("from", "with")}
        for y in reversed(range(self.s.ranks)):
            row = ""
            for x in range(self.s.files):
                square = cell.text((x, y))
                token = self.start.board.get(square, _EMPTY).rstrip("~")
                state = "+" if square in unmoved and token != _EMPTY else ""
                letter = token.strip("+").upper()
                if token[0] == "+":
                    state, token = self.promoted_token(letter)[0], token[1:]
                    letter = self.promoted.get(letter, letter)
                row += state + token + "^" * (letter in self.terminal)
            rows.append(re.sub(r"\.+", lambda run: str(len(run[0])), row))
        if len(rows) == 1:
            rows.insert(0, str(self.s.files))  # of one row FEEN would make a line, which has no ranks
        held = [
            "".join(
                f"{count if count > 1 else ''}{token}{'^' * (token.upper() in self.terminal)}"
                for token, count in self.start.hands.items()
                if token.isupper() == own
            )
            for own in (True, False)
        ]
        styles = (STYLE, STYLE.lower()) if self.start.side == "first" else (STYLE.lower(), STYLE)
        return f"{'/'.join(rows)} {'/'.join(held)} {'/'.join(styles)}"

    # --- pieces ---

    def _tables(self, letter: str) -> list[str]:
        plain = {side: self._piece(letter, side) for side in SIDES}
        lines = self._table(letter, plain["first"], plain["second"])
        target = self.promoted.get(letter)
        if target is not None:
            promoted = {side: self._promoted(letter, target, side) for side in SIDES}
            token = self.promoted_token(letter)
            own = [] if token[0] == "+" else [f'fen = "+{letter}"']
            lines += self._table(token, [*promoted["first"], *own], [*promoted["second"], *own])
        if self._remembers_pawn() and any(letter in self._used_targets(side) for side in SIDES):
            pawn = self._pawns("first")[:1]
            keys = [
                line for line in self._moves(letter, "first") if line.split(" = ")[0] not in ("castling", "unmoved")
            ]
            own = [f"hand = {toml.text(pawn)}", f"fen = {toml.text(letter + '~')}"]
            lines += self._table(f"-{letter}", [*keys, *own], [*keys, *own])
        return lines

    @staticmethod
    def _table(token: str, first: list[str], second: list[str]) -> list[str]:
        if first == second:
            return ["", f"[pieces.{toml.key(token)}]", *first]
        return ["", f"[first.{toml.key(token)}]", *first, "", f"[second.{toml.key(token)}]", *second]

    def _remembers_pawn(self) -> bool:
        return (self.captures or self.s.flag("twoBoards")) and not self.s.flag("dropLoop")

    def _used_targets(self, side: Side) -> str:
        return self.targets[side] if any(pawn in self.s.letter_types for pawn in self._pawns(side)) else ""

    def _piece(self, letter: str, side: Side) -> list[str]:
        lines = self._moves(letter, side)
        lines += self._terminal_lines(letter, letter)
        lines += self._castling_lines(letter)
        if letter in self.unmoved:
            squares = self.unmoved[letter]
            lines.append(f"unmoved = {toml.zone(squares.values(), self.image)}")
        lines += self.petrifying(letter, self._promotion(letter, side))
        return lines + self._drop(letter) + self.wall_lines(letter) + self.around_lines(letter)

    def _terminal_lines(self, kind: str, held: str) -> list[str]:
        """That a piece of a kind is royal; it goes to the hand where it need not be the last one."""
        if kind not in self.terminal:
            return []
        hand = [f"hand = {toml.text(held)}"] if self.captures and self.may_lose_royal else []
        return ["terminal = true", *hand]

    # --- what becomes of a piece ---

    def _castling_lines(self, letter: str) -> list[str]:
        entries = {
            side: [each for each in found if self.castlers[each["from"]].upper() == letter]
            for side, found in self.castlings.items()
        }
        if not any(entries.values()):
            return []
        sides = []
        for side in SIDES:
            written = [
                _inline(f"{key} = {value if key == 'empty' else toml.text(value)}" for key, value in each.items())
                for each in map(self._anywhere, entries.get(side, []))
            ]
            sides.append(f"{side} = [{', '.join(written)}]")
        return [f"castling = {_inline(sides)}"]

    def _anywhere(self, entry: dict[str, str]) -> dict[str, str]:
        """A castling from one square with one rook, or where that is the rule from all of the rank with all of it."""
        if not self.s.flag("chess960"):
            return entry
        rank = sorted(self.s.rank(cell.parse(entry["from"])[1]), key=cell.parse)
        areas = {"from": f"{rank[1]}:{rank[-2]}", "with": f"{rank[0]}:{rank[-1]}"}
        return {key: areas.get(key, value) for key, value in entry.items() if key != "empty"}

    def _promotion(self, letter: str, side: Side) -> list[str]:
        pawn, target = letter in self._pawns(side), self.promoted.get(letter)
        to = [f"-{each}" if self._remembers_pawn() else each for each in self.targets[side]] if pawn else []
        to += [self.promoted_token(letter)] if target is not None else []
        zone = self._promotion_zone()
        if not to or not zone:
            return []
        mandatory = pawn and self.s.flag("mandatoryPawnPromotion", True)
        if not (pawn and self.targets[side]):
            mandatory = mandatory or self.s.flag("mandatoryPiecePromotion")
        if pawn:
            self._check_targets(letter, side)
        if self.s.value("promotionLimit"):
            self._limit(self._made(to))
        if pawn and self.s.flag("sittuyinPromotion"):
            return self._promotion_moves(zone, to)
        forced = "true" if mandatory else '"immobile"' if self.s.flag("immobilityIllegal") else "false"
        as_pawn = pawn and self.targets[side] != ""
        return [self._promotion_line(zone, to, forced, leaving=target is not None and not as_pawn, as_pawn=as_pawn)]

    def _promotion_moves(self, zone: str, to: list[str]) -> list[str]:
        """Promotions that are moves: of pawns that stand in the zone, and of the only one of its side."""
        if len(to) > 1:
            self.s.refuse("sittuyinPromotion")
        betza = self._betza(to[0].removeprefix("-"))[0]
        parts = [f'betza = "m{betza}"', "in_place = true", f'apart = "{betza}"', f"to = {toml.texts(to[:1])}"]
        rules = _inline([f'from = "{zone}"', *parts]), _inline([*parts, "alone = true"])
        return [f"promotion = [{', '.join(rules)}]"]

    def _promotion_line(self, zone: str, to: list[str], forced: str, *, leaving: bool, as_pawn: bool = False) -> str:
        parts = [f'zone = "{zone}"', f"to = {toml.texts(to)}"]
        if leaving:
            parts.append('on = "enter-or-leave"')
        if forced != "false":
            parts.append(f"forced = {forced}")
        if self.s.flag("piecePromotionOnCapture") and not as_pawn:
            parts.append("capturing = true")
        if self._is_unique(to):
            parts.append("unique = true")
        return f"promotion = {_inline(parts)}"

    def _check_targets(self, letter: str, side: Side) -> None:
        """Refuse targets of pawns that are royal without a limit, or no change."""
        name, king = "promotionPieceTypes", self.s.letter("king")
        if king and king in self.targets[side] and king not in self.s.pairs("promotionLimit"):
            self.s.refuse(f"{name}{COLOURS[side]}", BEYOND[f"{name} king"][1])
        if letter in self.targets[side]:
            self.s.refuse(f"{name}{COLOURS[side]}", BEYOND[name][1])

    def _check_together(self) -> None:
        """Refuse options that do not go together with what others made of the pieces."""
        clashes = {
            "dropLoop": self.promoted and self.s.flag("dropLoop"),
            "sittuyinPromotion": self.promoted and self.s.flag("sittuyinPromotion"),
            "promotedPieceType": not self.promoted.keys().isdisjoint(self.promoted.values()),
            "mutuallyImmuneTypes": not {*self.s.letters("mutuallyImmuneTypes")}.isdisjoint(self.terminal),
            "chess960": self.s.flag("chess960") and self.s.flag("seirawanGating"),
        }
        for name, clash in clashes.items():
            if clash:
                self.s.refuse(name)

    def _limit(self, made: set[str]) -> None:
        """Limits on what promotions may make, as far as the duties of a host have words for them."""
        limits = self.s.pairs("promotionLimit")
        counts = {
            letter: len(self.start.squares(letter, "first")) + self.start.hands.get(letter, 0) for letter in limits
        }
        if made.isdisjoint(limits):
            return
        if set(limits) <= set(self.terminal):
            self.s.leave("promotionLimit", "royal-promotion-limit")
        elif set(limits) >= made and all(limits[each] == str(counts[each]) for each in limits):
            self.s.leave("promotionLimit", "promotion-limit")
        else:
            # The names that pieces of a type have: their own, and those of what is promoted to it.
            names = Counter([*{*self.letters()}, *self.promoted.values()])
            if not made <= set(limits) or any(limits[each] != "1" or names[each] > 1 for each in limits):
                self.s.refuse("promotionLimit")

    def _is_unique(self, to: list[str]) -> bool:
        """Whether what a promotion makes is limited to one of its kind by the document itself."""
        limits = self.s.pairs("promotionLimit")
        return (
            bool(limits)
            and self._made(to) <= set(limits)
            and not {"promotion-limit", "royal-promotion-limit"} & {refusal.duty for refusal in self.s.refusals}
        )

    def _made(self, to: list[str]) -> set[str]:
        """The letters of what a promotion makes."""
        return {self.promoted.get(token[-1], token[-1]) if token[0] in "+-" else token for token in to}

    def _promoted(self, letter: str, target: str, side: Side) -> list[str]:
        lines = [f"name = {toml.text('promoted ' + spelled(self.s.letter_types[letter]))}"]
        lines += self._ways(target, *self._betza(target), is_confined=target not in self.promoted)
        lines += self._terminal_lines(target, letter)
        if self.s.flag("pieceDemotion"):
            zone = self._promotion_zone()
            forced = "true" if self.s.flag("mandatoryPiecePromotion") else "false"
            lines.append(self._promotion_line(zone, [letter], forced, leaving=True))
        return lines + self.wall_lines(target)

    def _drop(self, letter: str) -> list[str]:
        kind = self.s.letter_types[letter]
        held = letter in {token.strip("+~").upper() for token in self.start.hands}
        gates = self.s.flag("seirawanGating") and kind not in ("pawn", "king") and (held or self.captures)
        lines = ["gating = true"] if gates else []
        if letter in self.terminal and not (held or self.may_lose_royal):
            return lines
        if not self.drops or not (held or self.captures or self.s.flag("twoBoards")):
            return lines
        parts = []
        zones = [self._drop_zone(kind, side) for side in SIDES]
        if any(zone != frozenset(self.squares) for zone in zones):
            self.zones[f"drops-{letter.lower()}"] = toml.zone(zones, self.image)
            parts.append(f'zone = "drops-{letter.lower()}"')
        if letter in self.s.letters("dropNoDoubled"):
            count = self.s.number("dropNoDoubledCount", 1)
            if count == 0:
                return [*lines, "drop = false"]
            if count > MAX_FILE_LIMIT:
                self.s.refuse("dropNoDoubledCount", f"a file may be limited to at most {MAX_FILE_LIMIT} of a piece")
            parts.append("nifu = true" if count == 1 else f"nifu = {count}")
        parts += self._drop_rules(letter)
        return [*lines, f"drop = {_inline(parts)}" if parts else "drop = true"]

    def _drop_rules(self, letter: str) -> list[str]:
        """What a drop asks for beside its zone and its file."""
        kind = self.s.letter_types[letter]
        on_top = self.s.flag("dropOnTop") or self.enclosing == "top"
        turns_near = self.s.value("flipEnclosedPieces").lower() == "quadwrangle"
        promoted = toml.texts([letter, self.promoted_token(letter)])
        rules = {
            "immobile = false": self.s.flag("immobilityIllegal") and kind != "immobile",
            "on_top = true": on_top,
            'apart = "W"': self.enclosing == "snort",
            'encloses = "K"': self.encloses,
            'near = "K"': self.enclosing == "ataxx" or turns_near,
            "lone = true": turns_near,
            "unmoved = true": self.s.flag("castlingDroppedPiece") and letter in self.begin_unmoved,
            "other_colour = true": self.s.flag("dropOppositeColoredBishop") and kind == "bishop",
            f"as = {promoted}": self.s.flag("dropPromoted") and letter in self.promoted,
        }
        if rules["other_colour = true"]:
            # Nothing else is dropped on the last square of a colour that a bishop needs.
            self.s.leave("dropOppositeColoredBishop", "drop-rights")
        return [rule for rule, holds in rules.items() if holds]

    def _drop_zone(self, kind: str, side: Side) -> frozenset[str]:
        """Where a side may drop a kind of piece."""
        first = side == "first"
        everything = frozenset(self.squares)
        zone = self.s.region(f"dropRegion{COLOURS[side]}", everything) & everything
        if kind == "pawn" and not self.s.flag("firstRankPawnDrops"):
            zone -= self.s.rank(0 if first else self.s.ranks - 1)
        if kind == "pawn" and not self.s.flag("promotionZonePawnDrops"):
            zone -= self._promotion_region(side)
        if kind == "rook" and self.s.flag("sittuyinRookDrop"):
            zone &= self.s.rank(0 if first else self.s.ranks - 1)
        return zone
