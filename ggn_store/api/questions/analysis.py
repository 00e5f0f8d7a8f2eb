"""Analyses: questions about whole rulesets, answered by a few statements and what is made of their rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from ggn_store import collector
from ggn_store.analysis import comparison, movers, symmetry
from ggn_store.analysis import dead as dead_rules
from ggn_store.analysis import mobility as mobilities
from ggn_store.analysis import reach as reaches
from ggn_store.analysis.comparison import ComparedRules, Moving, PieceComparison
from ggn_store.analysis.dead import Dead
from ggn_store.analysis.likeness import ConceptValues, FoundGames, Profile, Profiles, Similar
from ggn_store.analysis.mobility import PieceMobility, SquareMobility
from ggn_store.analysis.movers import Candidate, SameMovers
from ggn_store.analysis.reach import IN_HAND, Coverage, Reacher
from ggn_store.analysis.symmetry import Asymmetry, MirrorFinding, SideSymmetry
from ggn_store.api.handle import Handle
from ggn_store.api.session import references as found_by
from ggn_store.api.session import versions
from ggn_store.errors import GgnStoreError, NotationError, UnknownNameError, offer, printable, quote
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import EMPTY, ENEMY, Possibility
from ggn_store.model.documents.mentions import Use, Uses
from ggn_store.model.teams.revision import Revision, is_proposal
from ggn_store.movement.entries import ToldPiece
from ggn_store.movement.facts import NamedMovement, named
from ggn_store.movement.movement import Items
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.store.analyses import concepts, entries, facts, mentions, mobility, stats
from ggn_store.store.analyses.asking import Asker, Tell, asking
from ggn_store.store.analyses.concepts import NO_WISHES, Wishes
from ggn_store.store.analyses.entries import Member
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema.concepts import CONCEPTS, SIZES, Concept

Answer = TypeVar("Answer")


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
        self._handle.require_place(piece, None, None)
        with asking(self._database, self._tell) as asker:
            found = facts.mobility(asker, self._handle.revision, piece)
        return [mobilities.of_piece(*each) for each in found]

    def mobility_by_square(self, piece: str | None = None) -> list[SquareMobility]:
        """Where the pieces can go on an empty board from each square, and from the hand; otherwise like `mobility`."""
        self._handle.require_place(piece, None, None)
        board = self._handle.board
        with asking(self._database, self._tell) as asker:
            return mobilities.by_square(mobility.leaps(asker, self._handle.revision, piece=piece), board)

    def coverage(self, piece: str | None = None) -> list[Coverage]:
        """The squares that the pieces can ever stand on; see `ggn_store.analysis.reach`.

        They set out from the start position; where the ruleset has none, from every square that they have rules from.
        Raises UnknownNameError for a piece without rules.
        """
        self._handle.require_place(piece, None, None)
        wanted = self._handle.pieces if piece is None else (piece,)
        return self._covered(wanted, self._start())

    def coverage_from(self, piece: str, source: str) -> Coverage:
        """The squares that a piece can ever stand on if it stands on one (`*`: is in the hand), and nothing else does.

        Raises UnknownNameError for a piece without rules, and a square that is not on the board.
        """
        self._handle.require_place(piece, source, None)
        number = IN_HAND if source == HAND else self._handle.board.numbers[source]
        return self._covered((piece,), [(piece, number)])[0]

    def who_reaches(self, square: str) -> list[Reacher]:
        """Which pieces have rules to a square, from which others or the hand, in document order.

        Raises UnknownNameError for a square that is not on the board.
        """
        board = self._handle.board
        self._handle.require_square(square, or_hand=False)
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
        start, board = self._start(), self._handle.board
        with collector.held_off():
            return dead_rules.find(self._told_pieces(), board, start)

    def symmetries(self) -> list[SideSymmetry]:
        """Whether the sides are mirror images of one another, and each of itself; see `SideSymmetry`.

        Every way to reverse axes of the board is tried: nothing, left to right, top to bottom, both (a turn by 180
        degrees). On a board whose squares have no coordinates, only whether the sides have the same rules is told.
        """
        board, start = self._handle.board, self._handle.start
        return [symmetry.answer(finding, board, start) for finding in self._findings()]

    def asymmetries(self, symmetry: str | None = None, limit: int | None = None) -> list[Asymmetry]:
        """Where symmetries do not hold, in document order: of each, the first `limit` entries.

        Of the sides, where no symmetry holds, the one that holds nearly, with fewest entries; and of each side by
        itself. With `symmetry`, all of that name, as `SideSymmetry` has it; raises UnknownNameError for another.
        """
        found = self._findings()
        names = [*dict.fromkeys(each.mirror.symmetry for each in found)]
        if symmetry is not None and symmetry not in names:
            raise UnknownNameError(
                f"{quote(symmetry)} is not a symmetry of the board of {self._handle.revision}: {', '.join(names)}"
            )
        return [*_asymmetries(_chosen(found, symmetry), self._handle, limit)]

    # --- inside ---

    def _findings(self) -> list[MirrorFinding]:
        """What lacks a counterpart under each of the symmetries that are tried."""
        board, revision = self._handle.board, self._handle.revision
        with collector.held_off(), asking(self._database, self._tell) as asker:
            told = entries.of_revision(asker, revision)
            return symmetry.find(
                told, board, symmetry.mirrors(board, *entries.lying(asker, [revision.id])[revision.id])
            )

    def _told_pieces(self) -> list[ToldPiece]:
        """The pieces in document order, with what their rules say."""
        with asking(self._database, self._tell) as asker:
            return entries.of_revision(asker, self._handle.revision)

    def _start(self) -> list[tuple[str, int]] | None:
        """What the start position has on the board and in the hands; None without one."""
        start, numbers = self._handle.start, self._handle.board.numbers
        if start is None:
            return None
        standing = [(piece, numbers[square]) for square, piece in start.board.items() if piece and square in numbers]
        return standing + [(piece, IN_HAND) for piece in start.hands or ()]

    def _covered(self, pieces: Iterable[str], seeds: list[tuple[str, int]] | None) -> list[Coverage]:
        board = self._handle.board
        told = {each.piece: each.entries for each in self._told_pieces()}
        return reaches.coverages(pieces, reaches.reached(told, seeds), board)

    def _mentionable(self, asked: str) -> str | mentions.NamedVariable:
        """What rules can mention: a piece or a state as it is, a state variable with or without a value of it."""
        if asked in (EMPTY, ENEMY) or qpi.is_qpi(asked):
            return asked
        known = self._handle.variables
        if asked in known:
            return mentions.NamedVariable(asked)
        named = next((name for name in known if asked.startswith(f"{name}=")), None)
        if named is not None:
            value = asked.removeprefix(f"{named}=")
            if value not in known[named].values:
                allowed = offer(known[named].values)
                raise NotationError(
                    f"{quote(value)} is not a value of {printable(named)} in {self._handle.revision}: {allowed}"
                )
            return mentions.NamedVariable(named, value)
        allowed = f"{EMPTY}, {ENEMY} or {qpi.ALLOWED}"
        if known:
            allowed += f"; nor is it a state variable of {self._handle.revision}, or VARIABLE=VALUE: {offer([*known])}"
        else:
            allowed += f"; {self._handle.revision} has no state variables"
        raise NotationError(f"{quote(asked)} is not a state: {allowed}")


class StoreAnalysis:
    """The analyses of several rulesets of a store; `tell` gets the SQL of each statement that runs."""

    def __init__(self, session: Session, tell: Tell | None) -> None:
        self._session = session
        self._tell = tell

    def stats(self, references: Iterable[str] = ()) -> list[dict[str, Any]]:
        """How much is in these rulesets, or in the newest revision of all of them, by name."""
        wanted = self._selected(references)
        found: dict[str, dict[str, Any]] = {}
        with self._asking(wanted, every=not wanted) as parts:
            for part in parts:
                found |= zip(part.revisions, stats.of_rulesets(part.asker, [*part.revisions.values()]), strict=True)
        return [found[each] for each in wanted or found]

    def each(
        self, references: Iterable[str], ask: Callable[[RulesetAnalysis], list[Answer]]
    ) -> dict[str, list[Answer]]:
        """What is asked of one ruleset, asked of each of these, or of all in their newest revisions; by `chess@3`.

        Left out are those that it cannot be asked of, having no such piece, square or variable; where there is no
        other, raises UnknownNameError or NotationError, which says why of the first.
        """
        wanted = self._selected(references)
        with self._session.reading() as connection:
            newest = [] if wanted else catalog.newest(connection)
        found: dict[str, list[Answer]] = {}
        refused: list[GgnStoreError] = []
        named = (found_by.find(self._session, each) for each in wanted)
        for session, revision in chain(named, ((self._session, each) for each in newest)):
            try:
                found[str(revision)] = ask(RulesetAnalysis(Handle(session, revision), self._tell))
            except (UnknownNameError, NotationError) as error:
                refused.append(error)
        if refused and not found:
            if refused[1:]:
                raise type(refused[0])(f"none of {len(refused):,} rulesets can be asked so; of the first: {refused[0]}")
            raise refused[0]
        return found

    def concepts(self, references: Iterable[str] = ()) -> list[ConceptValues]:
        """The concepts of these rulesets, or of the newest revisions of all: see the guide to analyses."""
        told = {f"{each['ruleset']}@{each['revision']}": each for each in self._values(references, CONCEPTS)}
        return [
            ConceptValues(each.name, each.meaning, each.query, {key: of[each.name] for key, of in told.items()})
            for each in CONCEPTS
        ]

    def find(
        self,
        references: Iterable[str] = (),
        *,
        having: Iterable[str] = (),
        lacking: Iterable[str] = (),
        board: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> FoundGames:
        """Those of these rulesets, or of all in their newest revisions, that have all of `having`, none of `lacking`.

        Each is a concept (`hoppers`), or a comparison (`riders>=4`); `board` is a shape (`9x9`). No more than so many,
        the first ones `after` a name. Raises UnknownNameError and NotationError for what is no concept and no shape.
        """
        wanted, unwanted = ([*map(concepts.read_wish, each)] for each in (having, lacking))
        asked = [*dict.fromkeys(each.concept for each in (*wanted, *unwanted))]
        shape = None if board is None else boards.parse_shape(board).shape_text
        told = self._values(references, asked, Wishes(wanted, unwanted, shape), limit, after)
        return FoundGames(tuple(each.name for each in asked), told)

    def similar(self, reference: str) -> list[Similar]:
        """The other rulesets of the store in their newest revisions, the most like this one first."""
        return self.profiles([reference]).similar(reference)

    def profiles(self, references: Iterable[str] = ()) -> Profiles:
        """What `similar` compares these rulesets by, and the newest revisions of all: to ask it of many of them."""
        with self._asking(references, every=True) as parts:
            return Profiles({key: profile for part in parts for key, profile in _profiles(part).items()}, SIZES)

    def compare(self, before: str, after: str, pieces: Collection[str] | None = None) -> list[PieceComparison]:
        """What differs between the pieces of two rulesets or revisions, in words; see `PieceComparison`.

        Pieces are the same by their identifiers, whatever the style, or else by the same movement. Where it is known
        which `pieces` differ at all, the others are not read.
        """
        rules: dict[str, ComparedRules] = {}
        boards: dict[str, Board] = {}
        with self._asking([before, after], only=pieces) as parts, collector.held_off():
            for part in parts:
                grids = entries.Grids(part.asker)
                moving = _moving(part, grids, pieces)
                for reference, revision in part.revisions.items():
                    boards[reference] = board = grids[revision.board_id, entries.PLAIN][0]
                    rules[reference] = ComparedRules(board.shape_text, revision.dialect, moving[revision.id])
            is_same_board = boards[before].digest == boards[after].digest
            return comparison.compare(rules[before], rules[after], is_same_board=is_same_board)

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
        `ggn_store.movement.movement`. With `whole` also what it changes, and drops; `exact` is for boards of one size,
        square by square; `mirrored=False` tells mirrored movement apart. Raises UnknownNameError for a piece that is
        not there.
        """
        named = self._selected(references)
        wanted = [*named, *([] if ruleset is None else [ruleset])]
        with self._asking(wanted, every=not named, long=exact) as parts, collector.held_off():
            found_in = (part.revisions.get(ruleset) for part in parts if ruleset is not None)
            of_piece = next(filter(None, found_in), None)
            candidates = [_Candidates(part, piece, of_piece) for part in parts]
            _require(piece, [each for one in candidates for each in one.of_piece()], of_piece)
            places = chain.from_iterable(each.moving(whole, exact) for each in candidates)
            found = movers.group(places, mirrored=mirrored, wanted_only=piece is not None)
            return SameMovers(found, tuple(name for each in candidates for name in each.left_out()))

    def _values(
        self,
        references: Iterable[str],
        asked: Sequence[Concept],
        wishes: Wishes = NO_WISHES,
        limit: int | None = None,
        after: str | None = None,
    ) -> list[dict[str, Any]]:
        """Records with these concepts, of rulesets or of the newest revisions of the store; of a page by name."""
        wanted = self._selected(references)
        is_every = not wanted
        if limit is not None or after is not None:
            wanted = _after(wanted, after)
        with self._asking(wanted) as parts:
            if is_every:
                return [*concepts.ask(parts[0].asker, asked, None, wishes, limit, after)]
            places = {each: (part.asker, revision) for part in parts for each, revision in part.revisions.items()}
            found = (
                record
                for asker, revision in map(places.__getitem__, wanted)
                for record in concepts.ask(asker, asked, [revision], wishes)
            )
            return [*islice(found, limit)]

    def names(self, references: Iterable[str] = (), *, limit: int | None = None, after: str | None = None) -> list[str]:
        """These rulesets, or all of the store, by name: no more than so many, the first ones `after` a name.

        To ask of many rulesets page by page: what is asked of these names is what would be asked of all.
        """
        with self._session.reading() as connection:
            wanted = catalog.selected(connection, references)
            if not wanted:
                return catalog.names_after(connection, (), after, limit)
        return _after(wanted, after)[:limit]

    def _selected(self, references: Iterable[str]) -> list[str]:
        with self._session.reading() as connection:
            return catalog.selected(connection, references)

    @contextmanager
    def _asking(
        self, wanted: Iterable[str], *, every: bool = False, long: bool = False, only: Iterable[str] | None = None
    ) -> Iterator[list[_Part]]:
        """Where rulesets are: in the store, and proposals in others; with `every`, all newest revisions as well.

        Of proposals, `only` these pieces, if any are given.
        """
        pieces: Mapping[str, Collection[str]] | None = None if only is None else dict.fromkeys(only, ())
        proposed = {each: versions.proposed(self._session, each, only=pieces) for each in wanted if is_proposal(each)}
        with ExitStack() as stack:
            reading = self._session.reading_long() if long else self._session.reading()
            asker = stack.enter_context(asking(self._session.database, self._tell, reading))
            found = {each: catalog.find(asker.connection, each) for each in wanted if each not in proposed}
            if every:
                found = {str(each): each for each in catalog.newest(asker.connection)} | found
            parts = [_Part(asker, found)] if found or not proposed else []
            for reference, (memory, revision) in proposed.items():
                inside = stack.enter_context(asking(memory.database, self._tell, memory.reading()))
                parts.append(_Part(inside, {reference: revision}))
            yield parts


def _after(names: Iterable[str], after: str | None) -> list[str]:
    """The names that come after one, in their order."""
    return [each for each in sorted(names) if after is None or each > after]


def _profiles(part: _Part) -> dict[str, Profile]:
    """What each ruleset of a part is compared by."""
    revisions = part.by_id
    moving = facts.movements(part.asker, revisions.values())
    movements: dict[int, dict[str, str]] = {key: {} for key in revisions}
    for each in entries.members(part.asker, revisions.values()):
        fingerprint = moving[each.piece_id].fingerprint if each.piece_id in moving else None
        if fingerprint is not None:
            movements[each.revision_id].setdefault(fingerprint, each.piece)
    newest = {(each["ruleset"], each["revision"]): each for each in concepts.ask(part.asker, CONCEPTS)}
    older = [each for each in revisions.values() if (each.name, each.number) not in newest]
    told = newest | {(each["ruleset"], each["revision"]): each for each in concepts.ask(part.asker, CONCEPTS, older)}
    return {
        reference: Profile(
            revision.name,
            revision.number,
            {each.name: told[revision.name, revision.number][each.name] for each in CONCEPTS},
            movements[revision.id],
        )
        for reference, revision in part.revisions.items()
    }


class _Part(NamedTuple):
    """Revisions that are in one store, by what names them."""

    asker: Asker
    revisions: Mapping[str, Revision]

    @property
    def by_id(self) -> dict[int, Revision]:
        """Each of the revisions once."""
        return {each.id: each for each in self.revisions.values()}


def _moving(part: _Part, grids: entries.Grids, pieces: Collection[str] | None) -> Mapping[int, list[Moving]]:
    """How all pieces of revisions move, or these, by the keys of revisions; what they have in common is read once."""
    members = entries.members(part.asker, [*part.by_id.values()])
    if pieces is not None:
        members = [each for each in members if each.piece in pieces]
    moving = {
        member.piece_id: Moving(
            member.piece, member.digest, told, None if grids[member.board_id, entries.PLAIN][1] is None else told.grid
        )
        for member, told in entries.entries(part.asker, members, grids)
    }
    return {key: [moving[each.piece_id] for each in members if each.revision_id == key] for key in part.by_id}


class _Candidates:
    """The pieces of a part that may move alike; those that are wanted are `piece`, of any or of one revision."""

    def __init__(self, part: _Part, piece: str | None, of_piece: Revision | None) -> None:
        self._asker = part.asker
        self._revisions = part.by_id
        self._members = entries.members(part.asker, self._revisions.values())
        self._grids = entries.Grids(part.asker)
        self._piece = piece
        self._of_piece = of_piece

    def of_piece(self) -> list[Member]:
        """The pieces of the revision whose piece is wanted."""
        return [each for each in self._members if self._of_piece in (None, self._revisions[each.revision_id])]

    def moving(self, whole: bool, exact: bool) -> Iterator[tuple[Candidate, NamedMovement]]:
        """How each of them moves; what is said square by square is not stored."""
        revisions = [*self._revisions.values()]
        moving = (
            dict(_exact_movements(self._asker, self._members, self._grids, whole))
            if exact
            else facts.movements(self._asker, revisions, whole=whole)
        )
        of_revision: defaultdict[int, list[Member]] = defaultdict(list)
        for each in self._members:
            of_revision[each.revision_id].append(each)
        for key, revision in self._revisions.items():
            for each in of_revision[key]:
                if each.piece_id in moving:
                    is_wanted = each.piece == self._piece and self._of_piece in (None, revision)
                    yield Candidate(revision.name, revision.number, each.piece, is_wanted), moving[each.piece_id]

    def left_out(self) -> list[str]:
        """The revisions whose squares have no coordinates."""
        boards = {each.revision_id: each.board_id for each in self._members}
        unplaced = entries.unplaced(self._asker, boards.values())
        left_out = {board for board in unplaced if self._grids[board, entries.PLAIN][1] is None}
        return [str(self._revisions[key]) for key, board in boards.items() if board in left_out]


def _chosen(findings: Sequence[MirrorFinding], name: str | None) -> list[MirrorFinding]:
    """The findings of one name; without any, those of each side, and of the sides the one that holds nearly."""
    if name is not None:
        return [each for each in findings if each.mirror.symmetry == name]
    of_sides = [each for each in findings if each.mirror.of == "sides"]
    nearest = min(of_sides, key=lambda each: len(each.entries))
    return [nearest, *(each for each in findings if each.mirror.of != "sides")]


def _asymmetries(findings: Iterable[MirrorFinding], handle: Handle, limit: int | None) -> Iterator[Asymmetry]:
    """The entries of findings, the first `limit` of each."""
    board = handle.board

    @lru_cache(maxsize=8)
    def entries(piece: str) -> dict[tuple[str, str], Sequence[Possibility]] | None:
        if piece not in handle.pieces:
            return None
        found = handle.read_piece(piece)
        return {(source.square, each.square): each.possibilities
                for source in found.sources for each in source.destinations}  # fmt: skip

    def read(piece: str, source: str, destination: str) -> Sequence[Possibility] | None:
        of_piece = entries(piece)
        return None if of_piece is None else of_piece.get((source, destination), ())

    for finding in findings:
        for entry in islice(finding.entries, limit):
            yield symmetry.asymmetry(finding, entry, board, read)


def _require(piece: str | None, members: Sequence[Member], ruleset: Revision | None) -> None:
    there = list(dict.fromkeys(each.piece for each in members))
    if piece is not None and piece not in there:
        if ruleset is None:
            raise UnknownNameError(f"none of these rulesets has rules for {quote(piece)}")
        raise UnknownNameError(f"{ruleset} has no rules for {quote(piece)}; it has {offer(there)}")


def _exact_movements(
    asker: Asker, members: Iterable[Member], grids: entries.Grids, whole: bool
) -> Iterator[tuple[int, NamedMovement]]:
    """How each piece moves, square by square, by its key; pieces on boards without coordinates are left out."""
    placed = [each for each in members if grids[each.board_id, entries.PLAIN][1] is not None]
    for member, told in entries.entries(asker, placed, grids):
        items = Items(member.piece, told.grid)
        items.read(told)
        yield member.piece_id, named(items.movement(whole=whole), exact=True)
