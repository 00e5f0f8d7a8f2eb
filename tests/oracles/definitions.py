"""The moves of a definition, by the words of its guide, in plain Python on the TOML text itself.

It shares no code with the package: what a definition generates is held to it. A board is a dict square -> identifier.
Only pieces of the side that is not to move are marked for en passant: the duty `clear-marks` takes off other marks.
"""

import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tests.oracles import betza
from tests.oracles.betza import HEXAGONS, Arrival, Board, Walker, label, point, rectangle
from tests.oracles.reference import HAND, other

Table = dict[str, Any]
Placed = Mapping[str, str]
SIDES = ("first", "second")


class Move(NamedTuple):
    """A pseudo-legal move, with the board and the hands after it."""

    piece: str
    source: str
    destination: str
    board: frozenset[tuple[str, str]]
    hands: frozenset[tuple[str, int]]


class Step(NamedTuple):
    """What a move of a piece on the board does: the pieces that go to the hand, and the squares that were left."""

    to: str
    after: Placed
    gained: Iterable[str] = ()
    left: Iterable[str] = ()


class Castling(NamedTuple):
    """A castling of one side; `rook` names the partner's table."""

    source: str
    to: str
    rook: str
    rook_source: str
    rook_to: str
    empty: frozenset[str]


@dataclass(frozen=True)
class Man:
    """A piece of a side and the squares where it can stand; `state` is `+` of one that has not moved, or a mark."""

    identifier: str
    side: str
    token: str
    table: Table
    squares: frozenset[str]
    state: str = ""
    is_derived: bool = False

    @property
    def letter(self) -> str:
        return self.token.lstrip("+-")


class Definition:
    """What a definition says; `moves` are those of a position."""

    def __init__(self, text: str) -> None:
        self.game: Table = tomllib.loads(text)
        self.board = Board(self.game)
        self.squares = frozenset(self.board.points)
        self.styles = self.game.get("styles") or dict.fromkeys(SIDES, self.game["style"])
        self.is_mixed = self.styles["first"] != self.styles["second"]
        self.captures = self.game.get("hands", {}).get("captures", False)
        self.starts = dict(self._start(self.game.get("start", "")))
        self.tables = {side: self.game.get("pieces", {}) | self.game.get(side, {}) for side in SIDES}
        named = [(side, token, table) for side in SIDES for token, table in self.tables[side].items()]
        self.castlings = {(side, token): [*self._castlings(table, side)] for side, token, table in named}
        self.unmoved = {(side, token): self._unmoved(side, token, table) for side, token, table in named}
        self.men: dict[str, Man] = {}
        self.plain_men: dict[tuple[str, str, bool], Man] = {}
        # The identifier of a piece that is marked on a square, by how it came there and what it passed.
        self.marks: dict[tuple[str, str, tuple[str, ...]], str] = {}
        for side, token, table in named:
            self._add(side, token, table, self.area(table.get("confined", "all"), side))
            if self.unmoved[side, token]:
                self._add(side, token, table, self.unmoved[side, token], "+")
            if self.captures and self.is_mixed and not table.get("terminal"):
                squares = self.area(table.get("confined", "all"), other(side))
                self._add(other(side), token, table, squares, is_derived=True)
        for man in [*self.plain_men.values()]:
            if man.table.get("en_passant") and not man.is_derived:
                self._mark(man)

    # --- names, squares, areas ---

    def _identifier(self, side: str, token: str, table: Table, state: str = "", is_derived: bool = False) -> str:
        style = self.styles[other(side) if is_derived else side]
        name = re.sub("([A-Z])", r"\1^" if table.get("terminal") else r"\1", state + token) + "'" * is_derived
        return f"{style}:{name}" if side == "first" else f"{style}:{name}".lower()

    def _add(
        self, side: str, token: str, table: Table, squares: frozenset[str], state: str = "", is_derived: bool = False
    ) -> None:
        identifier = self._identifier(side, token, table, state, is_derived)
        man = self.men[identifier] = Man(identifier, side, token, table, squares, state, is_derived)
        if not state:
            self.plain_men[side, token, is_derived] = man

    def plain(self, man: Man, token: str) -> Man:
        """The piece of a name that a piece becomes or leaves: one of its side, or else of the other one."""
        names = ((man.side, token, man.is_derived), (man.side, token, False), (other(man.side), token, False))
        return next(self.plain_men[name] for name in names if name in self.plain_men)

    def _start(self, text: str) -> Iterator[tuple[str, tuple[str, str]]]:
        """The side and the name of what stands on each square at the start: rows of FEEN, the last rank first."""
        for rank, row in enumerate(reversed(text.split(" ")[0].split("/"))):
            file = 0
            for each in re.findall(r"\d+|[-+]?[A-Za-z]\^?'?", row):
                if not each.isdigit():
                    yield label((file, rank)), (SIDES[each.islower()], each.upper().replace("^", ""))
                file += int(each) if each.isdigit() else 1

    def area(self, value: Any, side: str, is_mirrored: bool = True) -> frozenset[str]:
        """The squares of an area for a side: mirrored for the second one, but where it has one of its own."""
        if isinstance(value, dict):
            return self.area(value[side], side, is_mirrored=False)
        if isinstance(value, list):
            return frozenset().union(*(self.area(each, side, is_mirrored) for each in value))
        if value in self.game.get("zones", {}):
            return self.area(self.game["zones"][value], side)
        squares = self.squares if value == "all" else self.squares.intersection(rectangle(value))
        if side == "first" or not is_mirrored:
            return squares
        return frozenset(image for square in squares if (image := self.board.image(square)) is not None)

    def _unmoved(self, side: str, token: str, table: Table) -> frozenset[str]:
        """Where a piece begins in the state `+`: as `unmoved` says, or a castling of its own or with it."""
        area = self.area(table["unmoved"], side) if "unmoved" in table else frozenset[str]()
        kings = {each.source for each in self.castlings[side, token]}
        castlings = itertools.chain(*(self.castlings[side, king] for king in self.tables[side]))
        return area | kings | {each.rook_source for each in castlings if each.rook == token}

    # --- castling ---

    def _castlings(self, table: Table, side: str) -> Iterator[Castling]:
        """The castlings of a side: of areas each king castles with each partner that it passes."""
        value = table.get("castling", [])
        is_own = isinstance(value, dict) and side in value
        listed = value[side] if is_own else value
        for each in listed if isinstance(listed, list) else [listed]:
            pairs = [*itertools.product(*(sorted(self.area(each[key], "first")) for key in ("from", "with")))]
            for king, rook in pairs:
                if len(pairs) == 1 or self._pass(king, each["to"], rook, each["with_to"]):
                    ways = ((king, rook), (king, each["to"]), (rook, each["with_to"]))
                    between = {each["to"], each["with_to"]}.union(*(self._between(*way) for way in ways))
                    squares = [king, each["to"], rook, each["with_to"], *each.get("empty", between - {king, rook})]
                    if side == "second" and not is_own:
                        squares = [str(self.board.image(square)) for square in squares]
                    partner = each.get("rook", table.get("rook", "R"))
                    source, to, rook_source, rook_to, *empty = squares
                    yield Castling(source, to, partner, rook_source, rook_to, frozenset(empty))

    def _pass(self, king: str, king_to: str, rook: str, rook_to: str) -> bool:
        """Whether each comes to the other side of the other one."""
        one, one_to, another, another_to = (self.board.points[square] for square in (king, king_to, rook, rook_to))
        before, after = map(int.__sub__, one, another), map(int.__sub__, one_to, another_to)
        return sum(map(int.__mul__, before, after)) < 0

    def _between(self, one: str, another: str) -> list[str]:
        """The squares between two of a file, a rank, or a row of hexagons that touch."""
        for step in HEXAGONS if self.board.hexagons else self.board.vectors((1,)):
            way = [one]
            while way[-1] != another and (at := tuple(map(int.__add__, self.board.points[way[-1]], step))):
                if at not in self.board.squares:
                    break
                way.append(self.board.squares[at])
            if way[-1] == another:
                return way[1:-1]
        return []

    # --- ways of moving ---

    def _walker(self, man: Man, board: Placed) -> Walker:
        """A piece among others."""

        def can_take(taken: Man) -> bool:
            return not taken.table.get("immune") and taken.letter not in man.table.get("captures_except", ())

        return Walker(
            self.board,
            man.side,
            contents=lambda square: [board.get(square)],
            is_enemy=lambda what: self.men[what].side != man.side and can_take(self.men[what]),
            is_friend=lambda what: self._is_friend(man, self.men[what]) and can_take(self.men[what]),
            is_hurdle=lambda what: self.men[what].letter not in man.table.get("hurdles_except", ()),
        )

    def _is_friend(self, man: Man, taken: Man) -> bool:
        return taken.side == man.side and not taken.table.get("terminal")

    def arrivals(self, man: Man, source: str, walker: Walker) -> Iterator[Arrival]:
        """By `betza` and `also`: from their squares, within their zones, never out of where the piece is confined."""
        is_first, confined = self._is_first(man, source), self.plain(man, man.token).squares
        for way in [man.table, *man.table.get("also", [])]:
            within = self.area(way.get("within", "all"), man.side)
            if source in self.area(way.get("from", "all"), man.side):
                for each in walker.arrivals(betza.parse(way["betza"], self.board), source):
                    is_inside = within >= {*each.way.over} - {source} | {each.to}
                    if is_inside and each.to in confined and (is_first or not each.is_first):
                        yield each

    def _is_first(self, man: Man, source: str) -> bool:
        """Whether a move from a square can be a first one: from `initial`, of what is unmoved, or from the start."""
        if "initial" in man.table:
            return source in self.area(man.table["initial"], man.side)
        if self.unmoved[other(man.side) if man.is_derived else man.side, man.token]:
            return man.state == "+"
        return self.starts.get(source) == (man.side, man.token)

    def _somewhere(self, man: Man) -> Walker:
        """A piece on whatever board: every square can be empty, or hold whatever suits it."""
        return Walker(self.board, man.side, lambda _: (None, "anything"), *[lambda _: True] * 3)

    def could_move(self, man: Man, square: str) -> bool:
        """Whether it could ever move on from a square."""
        return any(True for _ in self.arrivals(man, square, self._somewhere(man)))

    def _mark(self, man: Man) -> None:
        """First moves over empty squares leave the mark `-`, and `+` where it is a second way to the same square."""
        unmoved = self.unmoved[man.side, man.token]
        first = replace(man, state="+" if unmoved else "")
        ways: dict[str, set[tuple[str, ...]]] = {}
        for source in unmoved or self.squares:
            for each in self.arrivals(first, source, self._somewhere(man)):
                if each.is_first and (passed := self._passed(man, each)):
                    ways.setdefault(each.to, set()).add(passed)
        squares: dict[str, set[str]] = {}
        for square, every in ways.items():
            in_order = sorted(every, key=lambda way: (len(way), [self.board.labels[each][::-1] for each in way]))
            for mark, passed in zip("-+", in_order, strict=False):
                self.marks[man.identifier, square, passed] = self._identifier(man.side, man.token, man.table, mark)
                squares.setdefault(mark, set()).add(square)
        for mark, there in squares.items():
            self._add(man.side, man.token, man.table, frozenset(there), mark)

    def _passed(self, man: Man, arrival: Arrival) -> tuple[str, ...]:
        """The squares of a way on which a piece can be captured in passing."""
        value = man.table["en_passant"]
        area = self.area("all" if value is True else value, man.side)
        return tuple(square for square in arrival.emptied if square in area)

    def around(self, leaps: str, square: str, side: str) -> list[str]:
        """The squares that some leaps of a side lead to."""
        found = (square for line in self.lines(leaps, square, side) for square in line[:1])
        return [*dict.fromkeys(found)]

    def lines(self, leaps: str, square: str, side: str) -> Iterator[list[str]]:
        """The squares along each of some leaps, to the edge, or to where it began."""
        for (leg,) in betza.parse(leaps, self.board):
            for (vector,) in leg.tracks:
                line = [square]
                while (at := self.board.step(line[-1], self.board.seen(vector, side), leg.wraps)) not in (None, square):
                    line.append(str(at))
                yield line[1:]

    # --- moves ---

    def moves(self, board: Placed, hands: Mapping[str, int], side: str) -> set[Move]:
        """The pseudo-legal moves of a side."""
        own = {square: man for square, piece in board.items() if (man := self.men[piece]).side == side}
        steps = {square: [*self._steps(man, square, board)] for square, man in own.items()}
        found = {
            Move(board[source], source, step.to, *self._placed(step, hands))
            for source in steps
            for step in steps[source]
        }
        for man in [self.men[piece] for piece, count in hands.items() if count and self.men[piece].side == side]:
            spent = {**hands, man.identifier: hands[man.identifier] - 1}
            for square in self.squares - board.keys():
                for after in self._drops(man, square, board):
                    found.add(Move(man.identifier, HAND, square, *self._placed(Step(square, after), spent)))
            for source in steps if man.table.get("gating") else ():
                for step in steps[source] if own[source].state == "+" else ():
                    for square in step.left:
                        if square in man.squares and square not in step.after:
                            entered = step._replace(after={**step.after, square: man.identifier})
                            found.add(Move(man.identifier, HAND, square, *self._placed(entered, spent)))
        return found

    def _placed(
        self, step: Step, hands: Mapping[str, int]
    ) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, int]]]:
        """The board and the hands after a step."""
        after = Counter(hands) + Counter(step.gained)
        return frozenset(step.after.items()), frozenset((piece, count) for piece, count in after.items() if count)

    def _steps(self, man: Man, source: str, board: Placed) -> Iterator[Step]:
        """What a piece on the board can do."""
        walker = self._walker(man, board)
        for each in self.arrivals(man, source, walker):
            for captured in self._captured(man, each, board):
                for becomes in self._becoming(man, source, each, bool(captured), board):
                    yield from self._arrived(man, source, each.to, captured, becomes, board)
        yield from self._promotions(man, source, board)
        for castling in self.castlings.get((man.side, man.token), []) if man.state == "+" else ():
            yield from self._castled(man, source, castling, board)

    def _castled(self, man: Man, source: str, castling: Castling, board: Placed) -> Iterator[Step]:
        """A king that castles from where it is, with a partner that has not moved, over empty squares."""
        rook, left = self.men.get(board.get(castling.rook_source, "")), [source, castling.rook_source]
        is_there = rook is not None and (rook.side, rook.token, rook.state) == (man.side, castling.rook, "+")
        if source == castling.source and is_there and not castling.empty & board.keys():
            after = {square: piece for square, piece in board.items() if square not in left}
            after[castling.to] = self.plain(man, man.token).identifier
            after[castling.rook_to] = self.plain(man, castling.rook).identifier
            for walled in self._walled(man, source, castling.to, after):
                yield Step(castling.to, walled, left=left)

    def _captured(self, man: Man, arrival: Arrival, board: Placed) -> Iterator[tuple[str, ...]]:
        """The squares of what a move captures; in passing, one piece that is marked as having passed there."""
        if arrival.mode != "e":
            yield arrival.taken
            return
        can_take = self._walker(man, board).is_enemy
        for (_, square, passed), marked in self.marks.items():
            if board.get(square) == marked and arrival.to in passed and can_take(marked):
                yield (*arrival.taken, square)

    def _arrived(
        self, man: Man, source: str, to: str, captured: tuple[str, ...], becomes: str, board: Placed
    ) -> Iterator[Step]:
        """A piece has come to a square: what it captured is gone, it blasts, turns what is around, leaves a wall."""
        after = {square: piece for square, piece in board.items() if square not in (source, *captured)}
        after[to] = becomes
        if captured and (blast := self._blast(man)):
            for square in self.around(blast.get("betza", "K"), to, man.side):
                if square in after and self.men[after[square]].letter not in blast.get("spares", ()):
                    del after[square]
            if not blast.get("stays"):
                del after[to]
        turned = {**after, **self._turned(man, to, after)}
        gained = self._gained(man.side, [board[square] for square in captured])
        for walled in self._walled(man, source, to, turned):
            yield Step(to, walled, gained, [source])

    def _blast(self, man: Man) -> Table:
        """What a piece's captures destroy, as a table, which is empty where they destroy nothing more."""
        blast = man.table.get("blast", {})
        return {"betza": blast} if isinstance(blast, str) else {"betza": "K", **blast} if "blast" in man.table else {}

    def _gained(self, side: str, captured: Iterable[str]) -> list[str]:
        """What captured pieces of the other side are in the hand: terminal ones nothing, unless their table says so."""
        gained = []
        for man in map(self.men.__getitem__, captured):
            hand = man.table.get("hand", not man.table.get("terminal"))
            if self.captures and man.side != side and hand:
                token = man.letter if hand is True else hand
                held = self.plain_men.get((side, token, self.is_mixed and not man.is_derived))
                gained += [] if held is None else [held.identifier]
        return gained

    def _turned(self, man: Man, to: str, board: Placed) -> dict[str, str]:
        """The enemies around where a piece has come that become pieces of its side."""
        around = self.around(man.table.get("turns", ""), to, man.side)
        return {square: self._own(man, board[square]) for square in around if self._is_enemy(man, square, board)}

    def _own(self, man: Man, piece: str) -> str:
        turned = self.men[piece]
        own = self.plain_men.get((man.side, turned.token, False))
        return piece if own is None else own.identifier

    def _is_enemy(self, man: Man, square: str, board: Placed) -> bool:
        return square in board and self.men[board[square]].side != man.side

    def _walled(self, man: Man, source: str, to: str, board: Placed) -> Iterator[Placed]:
        """The board with what a move leaves on each empty square where it may; a drop has left no square."""
        wall = man.table.get("wall")
        if wall is None or (wall.get("past") and source == HAND):
            yield board
            return
        left = self.plain(man, wall["piece"])
        squares = self.area(wall.get("zone", "all"), man.side) & left.squares - board.keys()
        if wall.get("past"):
            squares &= {source}
        elif "betza" in wall:
            walker = self._walker(man, board)
            squares &= {each.to for each in walker.arrivals(betza.parse(wall["betza"], self.board), to)}
        yield from ({**board, square: left.identifier} for square in squares)

    # --- promotions ---

    def _becoming(self, man: Man, source: str, arrival: Arrival, captures: bool, board: Placed) -> list[str]:
        """What a piece is after a move: the same, perhaps marked, or what the first promotion that fits makes of it.

        A capture in passing is none, and what a blast destroys has become nothing.
        """
        stays = self.plain(man, man.token).identifier
        if arrival.mode != "e" and arrival.is_first and man.table.get("en_passant") and not man.is_derived:
            stays = self.marks.get((stays, arrival.to, self._passed(man, arrival)), stays)
        blast = self._blast(man) if captures else {}
        if arrival.mode == "e" or (blast and not blast.get("stays")):
            return [stays]
        others = self._others(board, source, arrival.to).values()
        for rule in self._rules(man, is_a_move=False):
            if self._applies(rule, man.side, source, arrival.to, captures):
                made = self._made(man, rule, arrival.to)
                free = [each for each in made if not rule.get("unique") or each not in others]
                must = rule.get("forced", False)
                if must == "immobile":
                    must = not self.could_move(self.plain(man, man.token), arrival.to)
                return free if must and made else [stays, *free]
        return [stays]

    def _promotions(self, man: Man, source: str, board: Placed) -> Iterator[Step]:
        """Promotions that are moves by themselves, by steps of their own or in place: the first one from its square."""
        rules = self._rules(man, is_a_move=True)
        starting = (rule for rule in rules if source in self.area(rule.get("from", "all"), man.side))
        for rule in itertools.islice(starting, 1):
            moves = betza.parse(rule.get("betza", ""), self.board)
            arrivals = self._walker(man, board).arrivals(moves, source)
            ends = [(each.to, each.taken) for each in arrivals if not each.is_first or self._is_first(man, source)]
            for to, captured in [*([(source, ())] if rule.get("in_place") else []), *ends]:
                others = self._others(board, source, to)
                is_apart = not any(
                    self._is_enemy(man, each, others) for each in self.around(rule.get("apart", ""), to, man.side)
                )
                is_alone = not rule.get("alone") or self.plain(man, man.token).identifier not in others.values()
                if self._applies(rule, man.side, source, to, True) and is_apart and is_alone:
                    for becomes in self._made(man, rule, to):
                        yield from self._arrived(man, source, to, captured, becomes, board)

    def _rules(self, man: Man, is_a_move: bool) -> list[Table]:
        rules = man.table.get("promotion", [])
        listed = rules if isinstance(rules, list) else [rules]
        return [rule for rule in listed if bool(rule.get("betza") or rule.get("in_place")) == is_a_move]

    def _applies(self, rule: Table, side: str, source: str, to: str, captures: bool) -> bool:
        """Whether a move is in the zone of a promotion, begins where it says, and captures if it asks for that."""
        ends = {to, source} if rule.get("on") == "enter-or-leave" else {to}
        is_there = not ends.isdisjoint(self.area(rule.get("zone", "all"), side))
        return (
            is_there and source in self.area(rule.get("from", "all"), side) and captures >= rule.get("capturing", False)
        )

    def _made(self, man: Man, rule: Table, to: str) -> list[str]:
        """What a promotion makes of a piece, of what can stand there."""
        made = (self.plain(man, token) for token in rule["to"])
        return [each.identifier for each in made if to in each.squares]

    def _others(self, board: Placed, source: str, to: str) -> Placed:
        """What stands elsewhere before a move."""
        return {square: piece for square, piece in board.items() if square not in (source, to)}

    # --- drops ---

    def _drops(self, man: Man, square: str, board: Placed) -> Iterator[Placed]:
        """The board after each way of dropping a piece on an empty square."""
        value = man.table.get("drop", self.captures and not man.table.get("terminal") and man.letter == man.token)
        drop = value if isinstance(value, dict) else {}
        if value is False or square not in self.area(drop.get("zone", "all"), man.side):
            return
        near = self.around(drop.get("near", ""), square, man.side)
        is_near = any(each in board and self.men[board[each]].side == man.side for each in near)
        turns = is_near or "near" not in drop
        apart = self.around(drop.get("apart", ""), square, man.side)
        may = [
            turns or drop.get("lone", False),
            not any(self._is_enemy(man, each, board) for each in apart),
            self._is_in_order(man, square, drop, board),
        ]
        for token in drop.get("as", [man.token]) if all(may) else ():
            placed = self.plain(man, token)
            could = drop.get("immobile", True) or self.could_move(placed, square)
            if square in placed.squares and could:
                if drop.get("unmoved") and square in self.unmoved.get((man.side, token), ()) and not man.is_derived:
                    placed = self.men[self._identifier(man.side, token, placed.table, "+")]
                after = {**board, square: placed.identifier}
                turned = self._turned(man, square, board) if turns else {}
                enclosed = self._enclosed(man, drop.get("encloses", ""), square, board)
                if enclosed or "encloses" not in drop:
                    yield from self._walled(man, HAND, square, {**after, **turned, **enclosed})

    def _is_in_order(self, man: Man, square: str, drop: Table, board: Placed) -> bool:
        """`nifu`, `other_colour` and `on_top`, of pieces of its kind and of what is below."""
        file, rank, *layer = point(square)
        own = [at for at, piece in board.items() if piece == man.identifier]
        same_file = [at for at in map(point, own) if (at[0], *at[2:]) == (file, *layer)]
        below = label((file, rank - 1, *layer)) if rank else ""
        return (
            len(same_file) < (int(drop.get("nifu", 0)) or len(self.squares))
            and not (drop.get("other_colour") and any(self.board.colour(at) == self.board.colour(square) for at in own))
            and not (drop.get("on_top") and below in self.squares and below not in board)
        )

    def _enclosed(self, man: Man, leaps: str, square: str, board: Placed) -> dict[str, str]:
        """The enemies along lines that are all enemies up to an own piece."""
        found: dict[str, str] = {}
        for line in self.lines(leaps, square, man.side):
            enemies = [*itertools.takewhile(lambda each: self._is_enemy(man, each, board), line)]
            if len(enemies) < len(line) and line[len(enemies)] in board:
                found |= {each: self._own(man, board[each]) for each in enemies}
        return found
