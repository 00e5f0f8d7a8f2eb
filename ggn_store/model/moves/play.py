"""How a game is played above its pseudo-legal moves: duties, marks that revert, squares crossed, and how it ends.

A revision declares it in its envelope, as one canonical JSON text (`text`, `parse`). A TOML file beside a document has
a table of the same keys (`read`):

    [play]
    duties = ["royal-safety", { name = "no-drop-mate", pieces = ["SHOGI:P", "shogi:p"] }]
    reverts = { "C:-P" = "C:P" }
    crossing = [{ piece = "C:+K^", source = "e1", destination = "g1", through = ["e1", "f1", "g1"] }]
    outcome = [{ when = "no-move", verdict = "loss", in_check = true }]
    host = ["history"]
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast, get_args

from ggn_store import limits
from ggn_store.errors import UNSTORABLE, NotationError, did_you_mean, offer, quote
from ggn_store.model.documents.document import EMPTY, Piece
from ggn_store.model.moves.counters import Counters
from ggn_store.notation import json_text
from ggn_store.notation.complaints import Complaints
from ggn_store.notation.qpi import Side, side_of

if TYPE_CHECKING:
    from ggn_store.model.moves.position import Position

# Which of several moves come first, in the order in which it is asked.
PREFERENCES: Final[Mapping[str, str]] = {
    "capture-on": "of mandatory captures, who can land on several squares behind what is taken lands where the "
    "capture can go on",
    "most-captures": "of mandatory captures, one that takes as many pieces as can be taken, and of these one that "
    "takes as many of `pieces`, if these are given, as can be",
    "capture-with": "of mandatory captures, one by one of `pieces`, if there is any",
    "capture-soon": "of mandatory captures, one that takes `pieces` as early as can be",
    "last-actions": "nothing is done by the actions that `pieces` names while another move is legal",
}
# What a game forbids or asks for beyond its rules, by the names of duties.
DUTIES: Final[Mapping[str, str]] = {
    "royal-safety": "no move leaves an own terminal piece attacked, nor does castling begin in or cross an attack; "
    "what enters by gating is no shield in the same move; who has lost the last one has lost the game",
    "flying-general": "no move leaves the two terminal pieces on one file or rank with nothing between them",
    "duple-check": "royal-safety forbids to leave all terminal pieces of a side attacked, where it has several",
    "spare-royal": "royal-safety is for a side's last terminal piece",
    "blast-safety": "royal-safety where captures blast: what a blast beside it would destroy is not attacked, nor is "
    "what nobody takes without destroying an own terminal piece, which no move does; who destroys one of the other "
    "side's may leave an own one attacked",
    "clear-marks": "a piece that is marked, such as for en passant, loses its mark, or is taken off the board, when "
    "its own side is next to move",
    "mandatory-capture": "who can capture must capture",
    "mandatory-drop": "who has something to drop, or one of `pieces`, if these are given, must drop it before anything "
    "else",
    "no-checks": "no move attacks the other side's terminal piece",
    "no-flight": "a terminal piece that is attacked moves only to capture all that attacks it",
    "no-leap-from-check": "a terminal piece that is attacked does not make the moves that only a first move can be",
    "no-drop-checks": "no drop attacks the other side's terminal piece",
    "no-drop-mate": "no drop of a pawn mates",
    "no-promotion-checks": "no promotion attacks the other side's terminal piece",
    "pass": "a player may pass",
    "forced-pass": "a player who has pieces and no legal move passes, if the other one then has a move",
    "promotion-limit": "a promotion makes only what is missing of its kind",
    "royal-promotion-limit": "a promotion makes a terminal piece only where one is missing",
    **PREFERENCES,
}
# The duties that are about some pieces, or actions, only: a definition implies those of the first two.
_IMPLIED: Final = ("no-leap-from-check", "no-drop-mate")
_OPTIONAL: Final = ("mandatory-drop", "most-captures")
_NAMED: Final = ("capture-with", "capture-soon", "last-actions")
# What nothing here judges: it is left to the players.
HOST_DUTIES: Final[Mapping[str, str]] = {
    "bikjang": "the game ends when the two terminal pieces face each other with nothing between them",
    "drop-rights": "who may drop what and when depends on more than the board and the hand",
    "gating": "a piece in hand may enter on the square that an unmoved piece leaves",
    "history": "a move may depend on moves that were made before, beyond what states remember",
    "side-effects": "a move has effects that its document leaves out",
    "silent-attacks": "what may not move to a square can attack it: a pawn that has nothing to promote to gives check",
    "points": "an end is decided by counting pieces or what they are worth",
    "counting": "the moves of a side that cannot mate are counted, and the game is drawn",
    "chasing": "a repetition is judged by who checks or chases, or it ends a game in which that counts",
    "swap": "the second player may take over the first player's first move",
    "two-passes": "the game ends when both players pass, one after the other",
    "ends": "the game ends in ways that its outcomes leave out",
}

# What an outcome is decided by.
When = Literal[
    "no-move", "extinct", "goal", "line", "checks", "bare", "material", "facing", "repetition", "quiet", "connection"
]
Award = Literal["win", "loss", "draw", "majority"]


# What is said of what an outcome may leave open, where it is told what there is to say.
_IN_GENERAL: Final[Mapping[str, str]] = {
    "check": "; `in_check` says whether it has to be in check, or must not be",
    "left": "at most `count` pieces (0, unless it is said; of `pieces`, if these are given)",
    "other": ", and the other side has at least `other`",
    "number": "`count`",
    "one": " (1, unless it is said)",
    "what": "of `pieces`, or of any,",
    "but": ", but for `pieces`, of which there are at most `count` in all (any number, unless it is said), all on "
    "`squares` if these are given",
    "squares": "`squares`",
    "safe": "; if `safe`, where the other side cannot take it",
    "turn": "; the verdict is that of the side to move",
    "without": ", and without a move of `pieces` that they could not take back",
    "group": "one group of pieces, or of `pieces`, that joins `count` (all, unless it is said) of `edges`, or without "
    "`edges` all its pieces in one group",
    "ways": '`ways`, each with its opposite, of which `"1 0"` goes to the next file, `"0 1"` to the next rank',
    "perpetual": "; if `perpetual`, a side that alone has checked with every move in between loses instead",
}


@dataclass(frozen=True, slots=True)
class OutcomeKind:
    """What an outcome of a kind is, and what it must and may say beside its verdict and side.

    `condition` is what has to hold, with fields for what an outcome says, of which `answer` is one: what is `answered`;
    `note` is what there is to know beside it. The verdict is that of the side to move (`is_of_mover`), or of the side
    that has come to it. `reason` is why a game is over by it, with `{count}` for what the outcome counts.
    """

    condition: str
    reason: str
    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    is_of_mover: bool = False
    note: str = ""
    answer: str = (
        "; the other side may still move once: the game is drawn if it comes to the same, and goes on if this is undone"
    )

    def who(self, side: Side | None) -> str:
        """The side that it is about, in words."""
        return side or ("the side to move" if self.is_of_mover else "a side")

    @property
    def meaning(self) -> str:
        """What has to hold, whatever an outcome says."""
        return self.condition.format(who=self.who(None), answered="", **_IN_GENERAL) + self.note


OUTCOMES: Final[Mapping[When, OutcomeKind]] = {
    "no-move": OutcomeKind("{who} has no legal move{check}", "no legal move", may=("in_check",), is_of_mover=True),
    "extinct": OutcomeKind(
        "{who} has {left} left on its board and in its hand{other}{answered}",
        "extinction",
        may=("pieces", "count", "other", "answered"),
        note=" (if `answered`, one more while first is to move: it may still take one)",
        answer=" (one more while first is to move: it may still take one)",
    ),
    "bare": OutcomeKind("{who} has its royal pieces only{answered}", "bare king", may=("answered",)),
    "material": OutcomeKind(
        "both sides have their royal pieces only{but}{turn}",
        "insufficient material",
        may=("pieces", "squares", "count"),
        is_of_mover=True,
    ),
    "goal": OutcomeKind(
        "{who} has {number}{one} {what} on {squares}{safe}{answered}",
        "goal reached",
        must=("squares",),
        may=("pieces", "count", "safe", "answered"),
    ),
    "line": OutcomeKind(
        "{who} has {number} {what} in a row",
        "{count} in a row",
        must=("count",),
        may=("pieces",),
        note=", straight or diagonal; where only some rows count, say each of them as a `goal`",
    ),
    "checks": OutcomeKind("{who} has given check {number} times", "{count} checks", must=("count",)),
    "facing": OutcomeKind(
        "two royal pieces face each other with nothing between them{turn}{answered}",
        "the royal pieces face each other",
        may=("answered",),
        is_of_mover=True,
    ),
    "repetition": OutcomeKind(
        "a position is reached {number} times, with the same side to move{turn}{perpetual}",
        "the position was reached {count} times",
        must=("count",),
        may=("perpetual",),
        is_of_mover=True,
    ),
    "quiet": OutcomeKind(
        "{number} plies pass without a capture, a drop or a promotion{without}{turn}",
        "{count} plies without a capture or a pawn's move",
        must=("count",),
        may=("pieces",),
        is_of_mover=True,
    ),
    "connection": OutcomeKind(
        "{who} has {group}, by steps of {ways}", "connection", must=("ways",), may=("edges", "pieces", "count")
    ),
}


@dataclass(frozen=True, slots=True)
class Duty:
    """A duty by its name, and the pieces (identifiers) that it is about, where it is about some only."""

    name: str
    pieces: tuple[str, ...] = ()


class _Said:
    """A base of values whose JSON data are their fields, but for those that are as usual."""

    __slots__ = ()

    def data(self) -> dict[str, Any]:
        """As a JSON object."""
        said = ((each.name, each.default, getattr(self, each.name)) for each in fields(self))  # type: ignore[arg-type]
        found = ((name, value) for name, usual, value in said if value != usual)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found}


@dataclass(frozen=True, slots=True)
class Crossing(_Said):
    """A move of a piece, and of another one with it, over squares which must not be attacked: castling.

    A move of the piece alone from the same source to the same destination is none.
    """

    piece: str
    source: str
    destination: str
    through: tuple[str, ...]

    @property
    def is_step(self) -> bool:
        """Whether the piece goes no further than to a neighbour, so that its rook may come between it and an attack."""
        return len(self.through) < 3


@dataclass(frozen=True, slots=True)
class Outcome(_Said):
    """A way in which a game ends. `verdict` is that of the side which `when` is about; `OUTCOMES` says what it means.

    By a `majority`, the side with more pieces on the board wins, and as many on both sides are a draw.
    Each of `edges` names its squares, and each of `ways` has its coordinates, with one space between them.
    `side` limits it to one side. `answered`: the other side may still move once; the game is drawn if it then has
    reached the same too, and goes on if what was reached is undone.
    """

    when: When
    verdict: Award
    side: Side | None = None
    pieces: tuple[str, ...] = ()
    squares: tuple[str, ...] = ()
    count: int | None = None
    in_check: bool | None = None
    safe: bool = False
    answered: bool = False
    other: int | None = None
    perpetual: bool = False
    edges: tuple[str, ...] = ()
    ways: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Play:
    """How a revision is played; nothing in it where nothing is declared.

    `reverts` maps marked pieces to plain ones, or to `empty`: then they are off the board when their mark is past.
    Of the outcomes the first that holds counts. `host` names what is left to the players, of `HOST_DUTIES`.
    """

    duties: tuple[Duty, ...] = ()
    reverts: Mapping[str, str] = field(default_factory=dict)
    crossing: tuple[Crossing, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    host: tuple[str, ...] = ()

    def duty(self, name: str) -> Duty | None:
        """The duty of this name, None where it is not one of the game's."""
        return next((duty for duty in self.duties if duty.name == name), None)

    @property
    def blasts(self) -> bool:
        """Whether royal pieces are asked for as where captures blast."""
        return self.duty("blast-safety") is not None

    def unmarked(self, position: Position) -> Position:
        """The position without marks on the pieces of the side to move (clear-marks)."""
        reverts, board = self.reverts, position.board
        if not reverts or reverts.keys().isdisjoint(board.values()):
            return position
        marked = [(square, str(piece)) for square, piece in board.items() if piece in reverts]
        past = {square: reverts[piece] for square, piece in marked if side_of(piece) == position.side}
        if not past:
            return position
        return replace(position, board={each: piece for each, piece in {**board, **past}.items() if piece != EMPTY})

    def counters(self, side: Side) -> Counters:
        """The counters of a start position with `side` to move."""
        most = most_checks(self.outcomes, "first"), most_checks(self.outcomes, "second")
        return Counters(plies=int(side == "second"), checks=most if any(most) else None)

    @property
    def takes_off(self) -> bool:
        """Whether marked pieces leave the board when their mark is past."""
        return EMPTY in self.reverts.values()

    def squares(self) -> set[str]:
        """Every square that it names."""
        named = {square for each in self.crossing for square in (each.source, each.destination, *each.through)}
        edges = (edge.split(" ") for each in self.outcomes for edge in each.edges)
        return named.union(*(each.squares for each in self.outcomes), *edges)

    def pieces(self) -> set[str]:
        """Every piece that it names."""
        named = {each.piece for each in self.crossing}.union(self.reverts, self.reverts.values()) - {EMPTY}
        # What may be done last are actions.
        named.update(*(each.pieces for each in self.duties if each.name != "last-actions"))
        return named.union(*(each.pieces for each in self.outcomes))

    def data(self) -> dict[str, Any]:
        """The canonical JSON object: what is a set is sorted, and what is not said is left out."""
        values = {
            "duties": [
                {"name": each.name, "pieces": list(each.pieces)} if each.pieces else each.name for each in self.duties
            ],
            "reverts": dict(self.reverts),
            "crossing": [each.data() for each in self.crossing],
            "outcome": [each.data() for each in self.outcomes],
            "host": list(self.host),
        }
        return {key: value for key, value in values.items() if value}


def most_checks(outcomes: Iterable[Outcome], side: Side) -> int:
    """How many checks of a side are counted down to 0: as many as the outcomes about it ask for at most."""
    return max((each.count or 0 for each in outcomes if each.when == "checks" and each.side in (None, side)), default=0)


def text(play: Play) -> str | None:
    """The canonical JSON text of what a revision declares; None where it declares nothing."""
    return json_text.compact(_canonical(play).data()) if play != Play() else None


@functools.lru_cache(maxsize=256)
def parse(declared: str | None) -> Play:
    """What a canonical text declares; raises NotationError, saying where it is wrong, for anything else."""
    if declared is None:
        return Play()
    if len(declared) > limits.DEFINITION_BYTES.most:
        raise NotationError(f"{quote(declared)} declares no play: the text may have {limits.DEFINITION_BYTES.allowed}")
    try:
        data = json.loads(declared)
    except (ValueError, RecursionError):
        raise NotationError(f"{quote(declared)} declares no play: it is no JSON") from None
    complaints = Complaints()
    found = read(data, complaints)
    if complaints:
        problem = complaints[0]
        raise NotationError(str(problem.placed("/".join(map(str, ("play", *problem.path))), (None, None), None)))
    if text(found) != declared:
        raise NotationError(f"{quote(declared)} declares no play in its canonical form: {quote(text(found))}")
    return found


def read(data: object, complaints: Complaints, path: tuple[str | int, ...] = ()) -> Play:
    """What decoded JSON or TOML declares; what is wrong with it goes to `complaints`, each at its path."""
    reader = _Reader(complaints.add)
    with contextlib.suppress(limits.TooManyError):
        return reader.play(data, path)
    return Play()


def check_duties(play: Play, complaints: Complaints, path: tuple[str | int, ...], *, has_definition: bool) -> None:
    """Complain of duties that nothing says what they are about, and of pieces of those that are about none."""
    named = _NAMED if has_definition else (*_IMPLIED, *_NAMED)
    for number, duty in enumerate(play.duties):
        at = (*path, "duties", number)
        if duty.pieces and duty.name not in (*_IMPLIED, *_OPTIONAL, *_NAMED):
            complaints.add((*at, "pieces"), f"{duty.name} is about no pieces", list(duty.pieces), "the name alone")
        elif not duty.pieces and duty.name in named:
            allowed = f'{{ name = "{duty.name}", pieces = ["...", ...] }}'
            complaints.add(at, f"{duty.name} says in pieces what it is about", duty.name, allowed)
        elif duty.name == "clear-marks" and not play.reverts and not has_definition:
            allowed = 'reverts = { "C:-P" = "C:P", ... }'
            complaints.add(at, "what clear-marks takes a mark off to is said in reverts", duty.name, allowed)


def strange_names(play: Play, named: Iterable[str], pieces: Iterable[Piece]) -> Iterator[tuple[str, object, str]]:
    """What is wrong with the pieces and actions that it names, where a game has those: a message, found, and allowed.

    `named` are the identifiers that the game knows, of which not all states need come up; `pieces` its rules.
    """
    known = {_stateless(piece) for piece in named}
    unknown = sorted(piece for piece in play.pieces() if _stateless(piece) not in known)
    if unknown:
        message = "how the game is played names pieces that the document and its start do not"
        yield message, unknown, "pieces of the document"
    for marked, plain in play.reverts.items() if not unknown else ():
        if plain != EMPTY and side_of(marked) != side_of(plain):
            yield f"{marked} reverts to a piece of the other side", plain, "a piece of its side"
    if last := play.duty("last-actions"):
        origins = (possibility.origin for piece in pieces for *_, possibility in piece.entries())
        actions = sorted({origin.action for origin in origins if origin is not None})
        if elsewhere := sorted(set(last.pieces).difference(actions)):
            message = "how the game is played names actions that the document does not"
            yield message, elsewhere, offer(actions) if actions else "actions of a document that names some"


# --- text and values ---

_STATES: Final = str.maketrans("", "", "+-^'")
_Path = tuple[str | int, ...]
_T = TypeVar("_T")
KEYS: Final = ("duties", "reverts", "crossing", "outcome", "host")
MOST: Final = 1_000_000


def _stateless(piece: str) -> str:
    return piece.translate(_STATES)


def _canonical(play: Play) -> Play:
    """The same, with what is a set in order."""
    duties = (Duty(each.name, tuple(sorted(each.pieces))) for each in play.duties)
    sets = (
        replace(
            each,
            pieces=tuple(sorted(each.pieces)),
            squares=tuple(sorted(each.squares)),
            edges=tuple(sorted(each.edges)),
            ways=tuple(sorted(each.ways)),
        )
        for each in play.outcomes
    )
    return Play(
        tuple(sorted(duties, key=lambda each: each.name)),
        dict(sorted(play.reverts.items())),
        tuple(sorted(play.crossing, key=lambda each: (each.piece, each.source, each.destination, each.through))),
        tuple(sets),
        tuple(sorted(play.host)),
    )


class _Reader:
    """Makes values of decoded data, and complains of what is not as it must be."""

    def __init__(self, complain: Callable[..., None]) -> None:
        self._complain = complain

    def play(self, data: object, path: _Path) -> Play:
        table = self._table(data, path, "play", KEYS)
        return Play(
            tuple(self._each(table, "duties", path, self._duty, lambda duty: duty.name)),
            self._reverts(table, path),
            tuple(self._each(table, "crossing", path, self._crossing)),
            tuple(self._each(table, "outcome", path, self._outcome)),
            tuple(self._each(table, "host", path, lambda name, at: self._choice(name, at, HOST_DUTIES))),
        )

    def _each(
        self,
        table: Mapping[str, Any],
        key: str,
        path: _Path,
        read: Callable[[Any, _Path], _T | None],
        key_of: Callable[[_T], object] = lambda value: value,
    ) -> Iterator[_T]:
        """What the entries of a list are read as, each once."""
        path = (*path, key)
        value = table.get(key, [])
        most = limits.DEFINITION_LIST
        if not isinstance(value, list) or len(value) > most.most:
            message = f"{key} is a list" if not isinstance(value, list) else "the list is too long"
            self._complain(path, message, value, "[...]" if not isinstance(value, list) else most.allowed)
            return
        known = set()
        for number, item in enumerate(value):
            made = read(item, (*path, number))
            if made is None:
                continue
            if key_of(made) in known:
                self._complain((*path, number), f"{key} has this twice", item, "each once")
                continue
            known.add(key_of(made))
            yield made

    def _duty(self, value: object, path: _Path) -> Duty | None:
        if not isinstance(value, dict):
            name = self._choice(value, path, DUTIES)
            return None if name is None else Duty(name)
        self._table(value, path, "a duty", ("name", "pieces"))
        name = self._choice(value.get("name"), (*path, "name"), DUTIES)
        return None if name is None else Duty(name, self._words(value, "pieces", path))

    def _reverts(self, table: Mapping[str, Any], path: _Path) -> dict[str, str]:
        value = table.get("reverts", {})
        path = (*path, "reverts")
        if not isinstance(value, dict) or len(value) > limits.DEFINITION_LIST.most:
            allowed = f"{{ marked = plain, ... }}, {limits.DEFINITION_LIST.allowed}"
            self._complain(path, "reverts is a table of pieces", value, allowed)
            return {}
        pairs = {key: self._word(plain, (*path, key)) for key, plain in value.items() if self._word(key, (*path, key))}
        return {marked: plain for marked, plain in pairs.items() if plain is not None}

    def _crossing(self, value: object, path: _Path) -> Crossing | None:
        keys = tuple(each.name for each in fields(Crossing))
        table = self._table(value, path, "a crossing", keys)
        piece, source, destination = (self._word(table.get(key), (*path, key)) for key in keys[:3])
        through = self._words(table, "through", path)
        if piece is None or source is None or destination is None:
            return None
        if not through:
            self._complain((*path, "through"), "a crossing says which squares it crosses", allowed='["e1", "f1", "g1"]')
        return Crossing(piece, source, destination, through)

    def _outcome(self, value: object, path: _Path) -> Outcome | None:
        table = self._table(value, path, "an outcome", tuple(each.name for each in fields(Outcome)))
        when = self._choice(table.get("when"), (*path, "when"), OUTCOMES)
        verdict = self._choice(table.get("verdict"), (*path, "verdict"), get_args(Award))
        side = None if "side" not in table else self._choice(table["side"], (*path, "side"), get_args(Side))
        if when is None or verdict is None:
            return None
        kind = OUTCOMES[cast(When, when)]
        for key in kind.must:
            if key not in table:
                self._complain((*path, key), f"an outcome of the kind {when} says its {key}", allowed=f"{key} = ...")
        for key in table:
            if key in _OF_KINDS and key not in (*kind.must, *kind.may):
                allowed = ", ".join((*_OF_ALL, *kind.must, *kind.may))
                self._complain((*path, key), f"an outcome of the kind {when} has no such key", table[key], allowed)
        flags = {key: self._flag(table, key, path) for key in _FLAGS if key in table}
        return Outcome(
            cast(When, when),
            cast(Award, verdict),
            cast("Side | None", side),
            self._words(table, "pieces", path),
            self._words(table, "squares", path),
            self._count(table, "count", path),
            other=self._count(table, "other", path),
            edges=self._words(table, "edges", path, _EDGE, '["a1 b1 c1", ...]'),
            ways=self._words(table, "ways", path, _WAY, '["1 0", "0 1", ...]'),
            **flags,
        )

    # --- values of a kind ---

    def _table(self, value: object, path: _Path, kind: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._complain(path, f"{kind} is a table", value, f"a table with the keys {', '.join(keys)}")
            return {}
        for key in value:
            if key not in keys:
                hint = did_you_mean(key, keys)
                self._complain((*path, key), f"{kind} has no such key{hint}", key, ", ".join(keys))
        return value

    def _choice(self, value: object, path: _Path, choices: Collection[str]) -> str | None:
        if isinstance(value, str) and value in choices:
            return value
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        self._complain(path, f"it is one of a few words{hint}", value, ", ".join(choices))
        return None

    def _word(self, value: object, path: _Path) -> str | None:
        if isinstance(value, str) and 0 < len(value) <= limits.LABEL.default and not UNSTORABLE.search(value):
            return value
        self._complain(path, "it is no piece or square", value, f"a text of 1 to {limits.LABEL.default} characters")
        return None

    def _words(
        self,
        table: Mapping[str, Any],
        key: str,
        path: _Path,
        form: re.Pattern[str] | None = None,
        allowed: str = '["...", ...]',
    ) -> tuple[str, ...]:
        """The texts of a list, each of which has a form."""
        if key in table and table[key] == []:
            self._complain((*path, key), f"{key} is empty", [], allowed)
        words = tuple(self._each(table, key, path, self._word))
        for number, word in enumerate(words):
            if form is not None and not form.fullmatch(word):
                self._complain((*path, key, number), f"{key} has no such text", word, allowed)
        return words

    def _flag(self, table: Mapping[str, Any], key: str, path: _Path) -> bool:
        if not isinstance(table[key], bool):
            self._complain((*path, key), f"{key} says yes or no", table[key], "true or false")
        return table[key] is True

    def _count(self, table: Mapping[str, Any], key: str, path: _Path) -> int | None:
        value = table.get(key)
        least = 0 if table.get("when") == "extinct" else 1
        if key not in table or (type(value) is int and least <= value <= MOST):
            return value
        self._complain((*path, key), f"{key} says how many", value, f"a whole number from {least} to {MOST:,}")
        return None


_EDGE: Final = re.compile("[^ ]+( [^ ]+)*")
_WAY: Final = re.compile("-?[0-9]{1,3}( -?[0-9]{1,3})*")
_FLAGS: Final = ("in_check", "safe", "answered", "perpetual")
_OF_ALL: Final = ("when", "verdict", "side")
_OF_KINDS: Final = tuple(each.name for each in fields(Outcome) if each.name not in _OF_ALL)
