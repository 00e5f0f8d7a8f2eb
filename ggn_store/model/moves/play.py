"""How a game is played above its pseudo-legal moves: duties, marks that revert, squares crossed, and how it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from ggn_store.model.documents.document import EMPTY
from ggn_store.model.moves.counters import Counters
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
