"""A definition -> its GGN document in the `diff` dialect, piece by piece.

The order is part of the result, which is the same to the byte each time: the first side's pieces, then the second's;
of each side the pieces in the order of the definition, each as `unmoved`, plain and `marked`; sources in the order of
the board, the hand last; destinations in the order of the routes that lead there first, castlings after them in the
order of the definition, drops in the order of the board. Where several possibilities lead to one destination: the quiet
one, the capture (one for each piece that can be taken, where it goes to a hand), the capture in passing; and of each
the piece as it is before what it may be promoted to. Moves that are promotions by themselves come after the others.
Where a blast spares pieces, the document is one of the dialect `gdl`, and a capture comes for each set of squares
around it where something is spared: none of them first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final

from ggn_store import limits
from ggn_store.errors import GgnStoreError
from ggn_store.games import playing, spares
from ggn_store.games.cases import SquareCase, SquareCases, may_take
from ggn_store.games.routes import Route
from ggn_store.games.rules import SIDES, Also, Blast, Castling, Definition, Drop, Form, Promotion, Wall
from ggn_store.model.changes.possibilities import content
from ggn_store.model.documents.document import (
    EMPTY,
    ENEMY,
    Destination,
    Dialect,
    Document,
    Guards,
    Piece,
    Possibility,
    Source,
)
from ggn_store.model.documents.variables import NO, YES
from ggn_store.notation import cell
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import Side, other_side
from ggn_store.notation.stn import Transition

_RANK: Final = 1  # the axis of ranks in the coordinates of a square


def generate(definition: Definition) -> Document:
    """The whole document of a game, with title, source, start position and board in its envelope."""
    return Document(dialect(definition), tuple(pieces(definition)), playing.envelope(definition), definition.text)


def dialect(definition: Definition) -> Dialect:
    """The dialect of a game's document: that of state variables, where rules need some."""
    return "gdl" if spares.letters(definition) else "diff"


def pieces(definition: Definition) -> Iterator[Piece]:
    """The pieces of a game's document, one at a time; a piece that can never move is not in it.

    Raises GgnStoreError where the document would have more possibilities than a store takes.
    """
    count = 0
    for side in SIDES:
        writer = Writer(definition, side, count)
        for form in writer.own.forms:
            sources = tuple(writer.sources(form))
            if sources:
                yield Piece(form.identifier, sources)
        count = writer.count


_Conditions = tuple[dict[str, str], dict[str, str]]
_UNGUARDED: Final[Guards] = {}
# Guards under which a blast empties some squares.
_Blasted = tuple[Guards, tuple[str, ...]]
# What a move makes of its piece, and the promotion that says so.
_Result = tuple[str, Promotion | None]


class Writer:
    """Writes the possibilities of one side's pieces."""

    def __init__(self, definition: Definition, side: Side, count: int = 0) -> None:
        self.own = definition.army(side)
        self.count = count
        self._most = limits.POSSIBILITIES.most
        self._enemy = enemy = definition.army(other_side(side))
        self._definition = definition
        self._squares = definition.board.squares
        self._cases = SquareCases(self.own, enemy, definition.captures)
        self._passers: dict[str, list[tuple[Form, str]]] = {}
        self._shots: dict[tuple[str, str], list[tuple[str, ...]]] = {}
        self._spared = spares.spared(definition)
        self._blasted: dict[object, list[_Blasted]] = {}
        # What stands where before a move, beside what its conditions say.
        self._moving: dict[str, str] = {}
        self._enemies = forms = {form.identifier: form for form in enemy.forms}
        for mark in enemy.marks:
            for square in mark.passed:
                self._passers.setdefault(square, []).append((forms[mark.identifier], mark.square))

    def sources(self, form: Form) -> Iterator[Source]:
        """Every square that a piece can go from, and the hand."""
        for source in (*self._squares, HAND):
            if destinations := self.destinations(form, source):
                yield Source(source, destinations)

    def destinations(self, form: Form, source: str) -> tuple[Destination, ...]:
        """Where a piece can go from a square, or from the hand."""
        if source != HAND:
            return self._destinations(form, source) if form.can_stand(source) else ()
        if not form.can_be_held:
            return ()
        self._moving = {}
        entries = ((square, (*self._drops(form, square), *self._gatings(form, square))) for square in self._squares)
        return tuple(Destination(square, found) for square, found in entries if found)

    def _destinations(self, form: Form, source: str) -> tuple[Destination, ...]:
        self._moving = {source: form.identifier}
        found: dict[str, list[Possibility]] = {}
        contents: dict[str, set[object]] = {}
        for route, rule in self._ways(form, source):
            possibilities = list(self._possibilities(form, source, route, rule))
            before = found.setdefault(route.destination, possibilities)
            if before is possibilities:
                continue
            # Two ways may say the same, and then it is said once.
            known = contents.get(route.destination)
            if known is None:
                known = contents[route.destination] = set(map(content, before))
            said = list(map(content, possibilities))
            before += [each for each, each_said in zip(possibilities, said, strict=True) if each_said not in known]
            known.update(said)
        for castling, possibility in self._castlings(form):
            if castling.source == source:
                found.setdefault(castling.destination, []).append(possibility)
        return tuple(Destination(square, tuple(each)) for square, each in found.items() if each)

    def _ways(self, form: Form, source: str) -> Iterator[tuple[Route, Promotion | None]]:
        """The routes of a piece from a square, and those that it has only to promote."""
        for route in self.own.ways(form, source):
            yield route, None
        rules = (each for each in form.piece.promotions if each.is_a_move)
        rule = next((each for each in rules if each.start is None or source in each.start.of(form.side)), None)
        if rule is not None:
            is_first = self.own.is_first(form, source)
            routes = self.own.along(Also(rule.moves), source)
            for route in itertools.chain([Route(source, capture=False)] if rule.in_place else (), routes):
                applies = rule.applies(form.side, source, route.destination, captures=route.capture)
                if applies and (is_first or not route.initial):
                    yield route, rule

    def _possibility(
        self,
        must: dict[str, str],
        deny: dict[str, str],
        board: dict[str, str | None],
        hands: dict[str, int],
        guards: Guards = _UNGUARDED,
    ) -> Possibility:
        self.count += 1
        if self.count > self._most:
            title = self._definition.title
            raise GgnStoreError(
                f"the document of {title} would have more than {self._most:,} possibilities{limits.POSSIBILITIES.more}"
            )
        if not self._spared:
            return Possibility(must, deny, Transition(board, hands))
        return Possibility(must, deny, Transition(board, hands, state=self._state(must, board, guards)), guards)

    def _state(self, must: dict[str, str], board: dict[str, str | None], guards: Guards) -> dict[str, str]:
        """The variables of squares that a move changes, but for those that stay as they are known to be."""
        state = {}
        for each in self._spared.values():
            for square in board.keys() & each.names.keys():
                name, value = each.names[square], YES if board[square] in each.pieces else NO
                before = must.get(square, self._moving.get(square, ENEMY))
                known = guards.get(name, () if before == ENEMY else (YES if before in each.pieces else NO,))
                if known != (value,):
                    state[name] = value
        return state

    # --- moves on the board ---

    def _possibilities(self, form: Form, source: str, route: Route, rule: Promotion | None) -> Iterator[Possibility]:
        target = route.destination
        way = [[SquareCase(must=dict.fromkeys((square for square in route.empty if square != source), EMPTY))]]
        way += [self._cases.hurdles(form, square) for square in route.occupied]
        way += [self._cases.enemies(form, square) for square in route.taken]
        # A move that ends where it began, or where it has captured, finds its destination empty by itself.
        arrival = SquareCase() if target in (source, *route.taken) else SquareCase({target: EMPTY})
        if route.quiet:
            results = self._results(form, source, route, rule, captures=bool(route.taken))
            takes = bool(route.taken)
            yield from self._written(form, source, target, [*way, [arrival]], route.taken, results, takes)
        results = self._results(form, source, route, rule, captures=True)
        if route.capture:
            yield from self._written(
                form, source, target, [*way, self._cases.enemies(form, target)], route.taken, results
            )
        if route.friendly:
            friends = self._cases.friends(form, target)
            yield from self._written(form, source, target, [*way, friends], route.taken, results)
        if route.en_passant:
            for passer, square in self._passers.get(target, ()):
                if may_take(form, passer):
                    taken = SquareCase({square: passer.identifier}, captured=passer)
                    cases = [*way, [arrival], [taken]]
                    # It is no promotion, as in Fairy-Stockfish.
                    stays: list[_Result] = [(self._plain(form, form.piece.token).identifier, None)]
                    yield from self._written(form, source, target, cases, (*route.taken, square), stays)

    def _written(
        self,
        form: Form,
        source: str,
        target: str,
        cases: list[list[SquareCase]],
        taken: tuple[str, ...],
        results: list[_Result],
        takes: bool = True,
    ) -> Iterator[Possibility]:
        """The possibilities of one way: each choice of cases that do not contradict each other, with each result."""
        for chosen in itertools.product(*cases):
            hands: dict[str, int] = {}
            for case in chosen:
                if case.captured is not None and (held := self._held(case.captured)) is not None:
                    hands[held] = hands.get(held, 0) + 1
            left: dict[str, str | None] = dict.fromkeys((source, *taken))
            blast = form.piece.blast
            blasts = takes and bool(blast.moves.patterns)
            gone = blasts and not blast.stays
            ways = self._cases.together(chosen)
            for result, rule in results[:1] if gone else results:  # what is gone has not become anything
                none, known = self._none_of(form, source, target, result, rule)
                board = {**left, target: None if gone else result}
                for case in self._cases.together([*chosen, SquareCase(deny=none)]) if none else ways:
                    around = self._blasts(blast, target, case.must, left) if blasts else ((_UNGUARDED, ()),)
                    for guards, emptied in around:
                        after = {**board, **dict.fromkeys(emptied)}
                        for asked, placed in self._walls(form, source, target, (case.must, case.deny), after):
                            said = (asked, case.deny), placed, hands, {**known, **guards}
                            yield from self._turned(form, target, *said)

    def _blasts(self, blast: Blast, target: str, must: dict[str, str], left: dict[str, str | None]) -> list[_Blasted]:
        """What a blast empties around the end of a capture: one choice for each set of squares where it spares."""
        around = self.own.around(blast.moves, target)
        if not blast.spares:
            return [(_UNGUARDED, around)]
        spared = self._spared[blast.spares]
        there = [square for square in around if square not in left and must.get(square) != EMPTY]
        unknown = tuple(square for square in there if square in spared.names and must.get(square, ENEMY) == ENEMY)
        sure = tuple(square for square in there if square not in unknown and must.get(square) not in spared.pieces)
        key = blast.spares, unknown, sure
        known = self._blasted.get(key)
        if known is None:
            known = self._blasted[key] = []
            for chosen in itertools.product((NO, YES), repeat=len(unknown)):
                asked = dict(zip(unknown, chosen, strict=True))
                guards = {spared.names[square]: (value,) for square, value in asked.items()}
                known.append((guards, (*sure, *(square for square in unknown if asked[square] == NO))))
        return known

    def _none_of(
        self, form: Form, source: str, target: str, result: str, rule: Promotion | None
    ) -> tuple[dict[str, str], Guards]:
        """What must not be elsewhere for a promotion, by a variable where something else must not be there, either."""
        if rule is None:
            return {}, _UNGUARDED
        deny = {square: ENEMY for square in self.own.around(rule.apart, target) if square != source}
        guards: dict[str, tuple[str, ...]] = {}
        asked = [self._definition.forms[result]] if rule.unique else []
        for each in [*asked, *([self._plain(form, form.piece.token)] if rule.alone else [])]:
            for square in self._squares:
                if square in (source, target) or not each.can_stand(square):
                    continue
                if deny.setdefault(square, each.identifier) == ENEMY:
                    name = self._spared[spares.alone(self._definition, each)].names.get(square)
                    guards |= {} if name is None else {name: (NO,)}
        return deny, guards

    def _turned(
        self,
        form: Form,
        target: str,
        conditions: _Conditions,
        board: dict[str, str | None],
        hands: dict[str, int],
        guards: Guards = _UNGUARDED,
    ) -> Iterator[Possibility]:
        """A move with each choice of enemies around its end that become own pieces."""
        if not form.piece.turns.patterns:
            yield self._possibility(*conditions, board, hands, guards)
            return
        around = self.own.around(form.piece.turns, target)
        for chosen in itertools.product(*(self._ways_to_turn(each) for each in around if each not in board)):
            cases, turned = [SquareCase(*conditions)], dict(board)
            for square, enemy, own in chosen:
                known = conditions[0].get(square)
                is_enemy = known == ENEMY or (known in self._enemies)
                if own is None:
                    if is_enemy:
                        break
                    cases += [] if known is not None else [SquareCase(deny={square: ENEMY})]
                elif known is not None and not is_enemy:
                    break
                else:
                    cases.append(SquareCase({square: enemy}))
                    turned[square] = own
            else:
                for case in self._cases.together(cases):
                    yield self._possibility(case.must, case.deny, turned, hands, guards)

    def _ways_to_turn(self, square: str) -> list[tuple[str, str, str | None]]:
        """How a square can be around the end of a move that turns enemies: what is there, and what that becomes."""
        there = self._enemy.standing(square)
        alone = len(there) == 1
        turned = [
            (ENEMY if alone else each.identifier, self._plain(self.own.forms[0], each.piece.token).identifier)
            for each in there
        ]
        return [(square, EMPTY, None), *((square, enemy, own) for enemy, own in turned)]

    def _results(self, form: Form, source: str, route: Route, rule: Promotion | None, captures: bool) -> list[_Result]:
        """What stands on the destination afterwards: one identifier for each choice."""
        piece, target = form.piece, route.destination
        plain = self._plain(form, piece.token)
        stays = plain.identifier
        mark = self.own.mark(form, route) if rule is None else None
        if mark is not None:
            stays = piece.identifier(form.side, form.style, state=mark)
        for promotion in piece.promotions if rule is None else (rule,):
            if promotion is rule or (
                not promotion.is_a_move and promotion.applies(form.side, source, target, captures)
            ):
                becomes = [self._plain(form, token) for token in promotion.to]
                promoted: list[_Result] = [(each.identifier, promotion) for each in becomes if each.can_stand(target)]
                forced = promotion.forced == "yes" or (
                    promotion.forced == "immobile" and not self.own.is_mobile(plain, target)
                )
                return promoted if promotion is rule or (forced and promoted) else [(stays, None), *promoted]
        return [(stays, None)]

    def _castlings(self, king: Form) -> Iterator[tuple[Castling, Possibility]]:
        for castling in king.piece.castling if king.kind == "unmoved" else ():
            if castling.side != king.side:
                continue
            rook = next(each for each in self.own.forms if each.kind == "unmoved" and each.piece.token == castling.rook)
            must = {**dict.fromkeys(castling.empty, EMPTY), castling.rook_source: rook.identifier}
            board: dict[str, str | None] = dict.fromkeys((castling.source, castling.rook_source))
            board[castling.destination] = self._plain(king, king.piece.token).identifier
            board[castling.rook_destination] = self._plain(rook, rook.piece.token).identifier
            for asked, left in self._walls(king, castling.source, castling.destination, (must, {}), board):
                yield castling, self._possibility(asked, {}, left, {})

    def _walls(
        self, form: Form, source: str, target: str, conditions: _Conditions, board: dict[str, str | None]
    ) -> Iterator[tuple[dict[str, str], dict[str, str | None]]]:
        """What a move asks for and changes with what its piece leaves on each square where it may."""
        must, wall = conditions[0], form.piece.wall
        if wall is None or (wall.past and source == HAND):
            yield must, board
            return
        placed = self._plain(form, wall.piece)
        for way in self._left(form, wall, source, target):
            if placed.can_stand(way[-1]) and (asked := _emptied(way, conditions, board)) is not None:
                yield {**must, **asked}, {**board, way[-1]: placed.identifier}

    def _left(self, form: Form, wall: Wall, source: str, target: str) -> list[tuple[str, ...]]:
        """The squares on which a move may leave something, each behind those that have to be empty for it."""
        start = source if wall.past else target
        known = self._shots.get((form.piece.token, start))
        if known is None:
            found: list[tuple[str, ...]]
            if wall.past:
                found = [(source,)]
            elif wall.moves.patterns:
                found = [(*route.empty, route.destination) for route in self.own.along(Also(wall.moves), target)]
            else:
                found = [(square,) for square in self._squares]
            zone = None if wall.zone is None else wall.zone.of(form.side)
            known = [way for way in found if zone is None or way[-1] in zone]
            self._shots[form.piece.token, start] = known
        return known

    # --- drops ---

    def _drops(self, form: Form, square: str) -> Iterator[Possibility]:
        drop = form.piece.drop
        if drop is None or (drop.zone is not None and square not in drop.zone.of(form.side)):
            return
        below = self._below(square) if drop.on_top else None
        for file in self._file_limits(form, square, drop.file_limit):
            asked = [SquareCase({square: EMPTY}), file, *self._kept_apart(form, square, drop)]
            asked += [] if below is None else [SquareCase(deny={below: EMPTY})]
            ways = itertools.product(drop.forms or (form.piece.token,), self._near(form, square, drop))
            for token, (near, turns) in ways:
                dropped = self._plain(form, token)
                if dropped.can_stand(square) and (drop.immobile or self.own.is_mobile(dropped, square)):
                    placed = self._as_unmoved(dropped, square) if drop.unmoved else dropped.identifier
                    for case in self._cases.together([*asked, near]):
                        yield from self._dropped(form, square, case, placed, turns)

    def _dropped(self, form: Form, square: str, asked: SquareCase, placed: str, turns: bool) -> Iterator[Possibility]:
        """A drop where other squares are as it asks, with each choice of what it turns or leaves beside it."""
        drop, hands = form.piece.drop, {form.identifier: -1}
        for must, board in self._walls(form, HAND, square, (asked.must, asked.deny), {square: placed}):
            ways: Iterable[tuple[SquareCase, dict[str, str | None]]] = [(SquareCase(must, asked.deny), board)]
            if drop is not None and drop.encloses.patterns:
                ways = self._enclosing(square, drop, SquareCase(must, asked.deny), board)
            for case, after in ways:
                if turns:
                    yield from self._turned(form, square, (case.must, case.deny), after, hands)
                else:
                    yield self._possibility(case.must, case.deny, after, hands)

    def _enclosing(
        self, square: str, drop: Drop, asked: SquareCase, board: dict[str, str | None]
    ) -> Iterator[tuple[SquareCase, dict[str, str | None]]]:
        """Each choice of enemies in lines between a drop and an own piece, with the board where they are own pieces."""
        for chosen in itertools.product(
            *(self._ways_to_enclose(line) for line in self.own.lines(drop.encloses, square))
        ):
            turned = {each: own for _, turns in chosen for each, own in turns.items()}
            for case in self._cases.together([asked, *(case for case, _ in chosen)]) if turned else ():
                yield case, {**board, **turned}

    def _ways_to_enclose(self, line: tuple[str, ...]) -> Iterator[tuple[SquareCase, dict[str, str]]]:
        """How a line can be from the square of a drop on, each position in one way, and what is turned there."""
        own = [each.identifier for each in self.own.standing(line[-1])]
        if len(line) < 2:
            yield SquareCase(), {}
            return
        yield SquareCase(deny={line[0]: ENEMY}), {}
        for count, end in enumerate(line[1:], 1):
            enemies = dict.fromkeys(line[:count], ENEMY)
            if count < len(line) - 1:
                yield SquareCase({**enemies, end: EMPTY}), {}
            elif len(own) == 1:
                yield SquareCase(enemies, {end: own[0]}), {}
            else:
                yield from ((SquareCase({**enemies, end: state}), {}) for state in (EMPTY, ENEMY))
            for turned in itertools.product(*(self._ways_to_turn(each)[1:] for each in line[:count])):
                there = {each: enemy for each, enemy, _ in turned}
                becomes = {each: str(own) for each, _, own in turned}
                for mine in (each.identifier for each in self.own.standing(end)):
                    yield SquareCase({**there, end: mine}), becomes

    def _kept_apart(self, form: Form, square: str, drop: Drop) -> Iterator[SquareCase]:
        """What must not stand on other squares for a drop."""
        yield SquareCase(deny=dict.fromkeys(self.own.around(drop.apart, square), ENEMY))
        if drop.other_colour:
            same = (each for each in self._squares if self._colour(each) == self._colour(square) and each != square)
            yield SquareCase(deny=dict.fromkeys(same, form.identifier))

    def _colour(self, square: str) -> int:
        """The colour of a square: one of two, or of three among hexagons, which diagonal steps keep."""
        lattice = self._definition.lattice
        point = lattice.points[square]
        return (point[0] - point[1]) % 3 if lattice.hexagonal else sum(point) % 2

    def _near(self, form: Form, square: str, drop: Drop) -> Iterator[tuple[SquareCase, bool]]:
        """The ways in which an own piece can be near the square of a drop, each position in one, and which turn."""
        if not drop.near.patterns:
            yield SquareCase(), True
            return
        around = self.own.around(drop.near, square)
        if drop.lone:
            alone = {each: [own.identifier for own in self.own.standing(each)] for each in around}
            if all(len(names) == 1 for names in alone.values()):
                yield SquareCase(deny={each: names[0] for each, names in alone.items()}), False
            else:
                cases = itertools.product((EMPTY, ENEMY), repeat=len(around))
                yield from ((SquareCase(dict(zip(around, case, strict=True))), False) for case in cases)
        for number, first in enumerate(around):
            for own in self.own.standing(first):
                for before in itertools.product((EMPTY, ENEMY), repeat=number):
                    yield SquareCase({**dict(zip(around, before, strict=False)), first: own.identifier}), True

    def _as_unmoved(self, dropped: Form, square: str) -> str:
        """What a piece is on a square where it has not moved yet."""
        if dropped.derived:
            return dropped.identifier
        forms = (each for each in self.own.standing(square) if each.kind == "unmoved" and each.piece is dropped.piece)
        return next((each.identifier for each in forms), dropped.identifier)

    def _gatings(self, form: Form, square: str) -> Iterator[Possibility]:
        """The moves of unmoved pieces from a square, each with the piece from the hand left there.

        They are entries of that piece, not of the one that moves: what a hand holds is asked at the source `*` only.
        """
        if not form.piece.gating or not form.can_stand(square):
            return
        for mover in self.own.forms:
            if mover.kind == "unmoved" and mover.can_stand(square):
                for destination in self._destinations(mover, square):
                    yield from self._gating(form, square, destination.possibilities, {square: mover.identifier})
            for castling, possibility in self._castlings(mover):
                if castling.rook_source == square:
                    yield from self._gating(form, square, (possibility,), {castling.source: mover.identifier})

    def _gating(
        self, form: Form, square: str, moves: tuple[Possibility, ...], must: dict[str, str]
    ) -> Iterator[Possibility]:
        for move in moves:
            effects = move.effects or Transition()
            if effects.board[square] is None:  # else something has been left there
                board = {**effects.board, square: form.identifier}
                hands = {**effects.hands, form.identifier: effects.hands.get(form.identifier, 0) - 1}
                hands = {
                    piece: delta for piece, delta in hands.items() if delta
                }  # it may have captured one just like it
                yield self._possibility({**move.must, **must}, dict(move.deny), board, hands, move.guards)

    def _file_limits(self, form: Form, square: str, limit: int | None) -> Iterator[SquareCase]:
        """The ways in which the file of a square can hold fewer of a piece than its limit, each position in one."""
        if limit is None:
            yield SquareCase()
            return
        file = [each for each in self._squares if each != square and _file(each) == _file(square)]
        for count in range(limit):
            for there in itertools.combinations(file, count):
                yield SquareCase(
                    dict.fromkeys(there, form.identifier),
                    dict.fromkeys((each for each in file if each not in there), form.identifier),
                )

    def _below(self, square: str) -> str | None:
        """The next square of the file towards the first rank, for both sides; None where there is none."""
        file, rank, *layers = cell.parse(square)
        below = cell.text((file, rank - 1, *layers)) if rank else None
        return below if below in self._squares else None

    def _held(self, captured: Form) -> str | None:
        """What a captured piece is in the hand of this side, None for nothing."""
        if not self._definition.captures or captured.piece.hand is None:
            return None
        held = self.own.plain(captured.piece.hand, captured.style != self._definition.style(self.own.side))
        return None if held is None else held.identifier

    def _plain(self, form: Form, token: str) -> Form:
        """The piece that a token of the definition names: of the form's army, or else of the other one."""
        found = self.own.plain(token, form.derived) or self.own.plain(token) or self._enemy.plain(token)
        if found is None:
            raise GgnStoreError(f"{token} is no piece of the {form.side} side")
        return found


def _emptied(way: tuple[str, ...], conditions: _Conditions, board: dict[str, str | None]) -> dict[str, str] | None:
    """What else must be empty before a move, that the squares of a way are after it; None where one cannot be."""
    must, deny = conditions
    asked: dict[str, str] = {}
    for square in way:
        if square in board:
            if board[square] is not None:
                return None
        elif must.get(square, EMPTY) != EMPTY or deny.get(square) == EMPTY:
            return None
        elif square not in must:
            asked[square] = EMPTY
    return asked


def _file(square: str) -> tuple[int, ...]:
    """What the squares of one file have in common: every coordinate but the rank."""
    point = cell.parse(square)
    return (*point[:_RANK], *point[_RANK + 1 :])
