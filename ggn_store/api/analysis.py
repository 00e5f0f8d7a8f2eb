"""Analyses: questions about whole rulesets, each answered by one statement and what is made of its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ggn_store.analysis import mobility as mobilities
from ggn_store.analysis import reach as reaches
from ggn_store.analysis.dead import Dead
from ggn_store.analysis.mobility import PieceMobility, SquareMobility
from ggn_store.analysis.reach import Coverage, Reacher
from ggn_store.api.handle import Handle
from ggn_store.errors import NotationError, UnknownNameError, offer, printable, quote
from ggn_store.model.board import Board
from ggn_store.model.document import EMPTY, ENEMY
from ggn_store.model.mentions import Use, Uses
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.store.analyses import mentions, mobility, reach, stats
from ggn_store.store.analyses.asking import Tell, asking
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog

if TYPE_CHECKING:
    from ggn_store.analysis.comparison import PieceComparison
    from ggn_store.analysis.movers import SameMovers
    from ggn_store.analysis.symmetry import Asymmetry, Finding, SideSymmetry


class RulesetAnalysis:
    """The analyses of one ruleset; `tell` gets the SQL of each statement that runs."""

    def __init__(self, handle: Handle, tell: Tell | None) -> None:
        self._handle = handle
        self._database = handle.session.database
        self._tell = tell

    def stats(self) -> list[dict[str, Any]]:
        """How much is in each piece, in document order."""
        with asking(self._database, self._tell) as asker:
            return stats.of_pieces(asker, self._handle.revision)

    def mobility(self, piece: str | None = None) -> list[PieceMobility]:
        """The mobility of the pieces on an empty board, in document order; see `ggn_store.analysis.mobility`.

        A piece that only comes from the hand has none. Raises UnknownNameError for a piece without rules.
        """
        return mobilities.by_piece(self.mobility_by_square(piece))

    def mobility_by_square(self, piece: str | None = None) -> list[SquareMobility]:
        """Where the pieces can go on an empty board from each square, and from the hand; otherwise like `mobility`."""
        self._require(piece=piece)
        board = self._handle.board
        with asking(self._database, self._tell) as asker:
            return mobilities.by_square(mobility.leaps(asker, self._handle.revision, piece=piece), board)

    def coverage(self, piece: str | None = None) -> list[Coverage]:
        """The squares that the pieces can ever stand on; see `ggn_store.store.analyses.reach`.

        They set out from the start position; where the ruleset has none, from every square that they have rules from.
        Raises UnknownNameError for a piece without rules.
        """
        self._require(piece=piece)
        wanted = self._handle.pieces if piece is None else (piece,)
        return self._covered(wanted, self._start())

    def coverage_from(self, piece: str, source: str) -> Coverage:
        """The squares that a piece can ever stand on if it stands on one (`*`: is in the hand), and nothing else does.

        Raises UnknownNameError for a piece without rules, and a square that is not on the board.
        """
        self._require(piece=piece, square=source)
        number = reach.IN_HAND if source == HAND else self._handle.board.numbers[source]
        return self._covered((piece,), [(piece, number)])[0]

    def who_reaches(self, square: str) -> list[Reacher]:
        """Which pieces have rules to a square, from which others or the hand, in document order.

        Raises UnknownNameError for a square that is not on the board.
        """
        board = self._handle.board
        if square not in board.numbers:
            raise UnknownNameError(f"{self._handle.revision} has no square {quote(square)}; {_squares(board)}")
        with asking(self._database, self._tell) as asker:
            found = mobility.leaps(asker, self._handle.revision, destination=board.numbers[square])
        return [
            Reacher(leap.piece, board.label(leap.source), leap.quiet, leap.capture, leap.possibilities)
            for leap in found
        ]

    def uses(self, state: str) -> list[Uses]:
        """How often the rules mention a piece, `empty` or `enemy`: by piece in document order, and by role.

        Or a state variable (`tide`) and one of its values (`tide=low`). Raises NotationError for what is none of these;
        a piece that nothing mentions has no uses.
        """
        asked = self._mentionable(state)
        with asking(self._database, self._tell) as asker:
            return mentions.totals(asker, self._handle.revision, asked)

    def each_use(self, state: str) -> list[Use]:
        """Every mention in the rules, in document order; otherwise like `uses`."""
        asked = self._mentionable(state)
        with asking(self._database, self._tell) as asker:
            return mentions.mentions(asker, self._handle.revision, self._handle.board, asked)

    def dead(self) -> list[Dead]:
        """The possibilities that never apply, or could be left out, in document order; see `Dead`."""
        from ggn_store.api import dead

        start, board = self._start(), self._handle.board
        with self._database.snapshot() as database, asking(database, self._tell) as asker:
            return dead.find(asker, self._handle.revision, board, start)

    def symmetries(self) -> list[SideSymmetry]:
        """Whether the sides are mirror images of one another, and each of itself; see `SideSymmetry`.

        Every way to reverse axes of the board is tried: nothing, left to right, top to bottom, both (a turn by 180
        degrees). On a board whose squares have no coordinates, only whether the sides have the same rules is told.
        """
        from ggn_store.analysis import symmetry

        board, start = self._handle.board, self._handle.start
        return [symmetry.answer(finding, board, start) for finding in self._findings()]

    def asymmetries(self, symmetry: str | None = None, limit: int | None = None) -> list[Asymmetry]:
        """Where symmetries do not hold, in document order: of each, the first `limit` entries.

        Of the sides, where no symmetry holds, the one that holds nearly, with fewest entries; and of each side by
        itself. With `symmetry`, all of that name, as `SideSymmetry` has it; raises UnknownNameError for another.
        """
        from ggn_store.api import movement

        found = self._findings()
        names = [*dict.fromkeys(each.mirror.symmetry for each in found)]
        if symmetry is not None and symmetry not in names:
            raise UnknownNameError(
                f"{quote(symmetry)} is not a symmetry of the board of {self._handle.revision}: {', '.join(names)}"
            )
        return [*movement.asymmetries(movement.chosen(found, symmetry), self._handle, limit)]

    # --- inside ---

    def _findings(self) -> list[Finding]:
        from ggn_store.api import movement

        with self._database.snapshot() as database, asking(database, self._tell) as asker:
            return movement.find_asymmetries(asker, self._handle.revision, self._handle.board)

    def _start(self) -> list[tuple[str, int]] | None:
        """What the start position has on the board and in the hands; None without one."""
        start, numbers = self._handle.start, self._handle.board.numbers
        if start is None:
            return None
        standing = [(piece, numbers[square]) for square, piece in start.board.items() if piece and square in numbers]
        return standing + [(piece, reach.IN_HAND) for piece in start.hands or ()]

    def _covered(self, pieces: Iterable[str], seeds: list[tuple[str, int]] | None) -> list[Coverage]:
        board = self._handle.board
        with asking(self._database, self._tell) as asker:
            standing = reach.reached(asker, self._handle.revision, seeds)
        return reaches.coverages(pieces, standing, board, reach.IN_HAND)

    def _mentionable(self, asked: str) -> str | mentions.Named:
        """What rules can mention: a piece or a state as it is, a state variable with or without a value of it."""
        if asked in (EMPTY, ENEMY) or qpi.is_qpi(asked):
            return asked
        known = self._handle.variables
        if asked in known:
            return mentions.Named(asked)
        named = next((name for name in known if asked.startswith(f"{name}=")), None)
        if named is not None:
            value = asked.removeprefix(f"{named}=")
            if value not in known[named].values:
                allowed = offer(known[named].values)
                raise NotationError(
                    f"{quote(value)} is not a value of {printable(named)} in {self._handle.revision}: {allowed}"
                )
            return mentions.Named(named, value)
        allowed = f"{EMPTY}, {ENEMY} or {qpi.ALLOWED}"
        if known:
            allowed += f"; nor is it a state variable of {self._handle.revision}, or VARIABLE=VALUE: {offer([*known])}"
        raise NotationError(f"{quote(asked)} is not a state: {allowed}")

    def _require(self, piece: str | None = None, square: str | None = None) -> None:
        self._handle.require_place(piece, square, None)


def _squares(board: Board) -> str:
    return f"its board is {board.shape_text or offer(board.squares)}"


class StoreAnalysis:
    """The analyses of several rulesets of a store; `tell` gets the SQL of each statement that runs."""

    def __init__(self, session: Session, tell: Tell | None) -> None:
        self._session = session
        self._tell = tell

    def stats(self, references: Iterable[str] = ()) -> list[dict[str, Any]]:
        """How much is in these rulesets, or in the newest revision of all of them, by name."""
        with asking(self._session.database, self._tell, self._session.reading_long()) as asker:
            found = [catalog.find(asker.connection, reference) for reference in references]
            return stats.of_rulesets(asker, found or catalog.newest(asker.connection))

    def compare(self, before: str, after: str) -> list[PieceComparison]:
        """What differs between the pieces of two rulesets or revisions, in words; see `PieceComparison`.

        Pieces are the same by their identifiers, whatever the style, or else by the same movement.
        """
        from ggn_store.api import movement

        with asking(self._session.database, self._tell, self._session.reading()) as asker:
            return movement.compare(asker, before, after)

    def same_movers(
        self,
        references: Iterable[str] = (),
        *,
        piece: str | None = None,
        ruleset: str | None = None,
        whole: bool = False,
        exact: bool = False,
        mirrored: bool = True,
    ) -> SameMovers:
        """Pieces of these rulesets, or of all in their newest revisions, that move alike, in groups.

        With `piece` only those that move like it; it is that of `ruleset`, or of any of these that has it. Movement is
        where a piece goes and what must stand where, independent of names, of the side and of the board's size; see
        `ggn_store.analysis.movement`. With `whole` also what it changes, and drops; `exact` is for boards of one size,
        square by square; `mirrored=False` tells mirrored movement apart. Raises UnknownNameError for a piece that is
        not there.
        """
        from ggn_store.api import movement

        with asking(self._session.database, self._tell, self._session.reading_long()) as asker:
            return movement.same_movers(
                asker, references, piece=piece, ruleset=ruleset, whole=whole, exact=exact, mirrored=mirrored
            )
