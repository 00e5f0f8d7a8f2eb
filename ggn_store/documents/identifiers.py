"""What is suspicious about the pieces that a document names, taken as a whole: a part of `lint`.

Each finding comes once for each piece, at the first place that names it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from ggn_store.documents.findings import finding
from ggn_store.errors import Problem
from ggn_store.model.changes.possibilities import content
from ggn_store.model.documents.document import CONDITION_KEYS, EMPTY, ENEMY, Document, Piece, Possibility
from ggn_store.model.moves import play_text
from ggn_store.model.moves.position import Position
from ggn_store.notation import qpi
from ggn_store.notation.json_text import Path
from ggn_store.notation.stn import Transition


def findings(document: Document) -> Iterator[Problem]:
    """Pieces that are made, named or ruled without what belongs to it, and states that make no difference."""
    catalogue = _Catalogue(document)
    yield from catalogue.missing()
    yield from catalogue.unreachable()
    if play_text.parse(document.envelope.play).duty("royal-safety") and not any(map(qpi.is_royal, catalogue.known)):
        message = "royal-safety keeps pieces with ^ safe, such as C:K^, and nothing makes or begins with one"
        yield finding("idle-play", (), message)
    yield from _same_rules(document.pieces, catalogue.named)


class _Catalogue:
    """Where a document names which pieces: with rules, in conditions, in effects."""

    def __init__(self, document: Document) -> None:
        self.named: Counter[str] = Counter()
        self._dialect = document.dialect
        self._ruled = [piece.identifier for piece in document.pieces]
        self._start: set[str] = set()
        if document.envelope.start is not None:
            position = Position.from_text(document.envelope.start)
            self._start = {*filter(None, position.board.values()), *(position.hands or ())}
        # The first place of each piece in a condition and in an effect.
        self._asked: dict[str, Path] = {}
        self._made: dict[str, Path] = {}
        # What must be there for a possibility, and what it makes: each pair once, of thousands that are alike.
        self._steps: set[tuple[frozenset[str], frozenset[str]]] = set()
        for piece in document.pieces:
            for source, destination, ordinal, possibility in piece.entries():
                self._add((piece.identifier, source.square, destination.square, ordinal), possibility)

    def _add(self, path: Path, possibility: Possibility) -> None:
        must_key, deny_key = CONDITION_KEYS[self._dialect]
        needs = {str(path[0])}
        for key, conditions in ((must_key, possibility.must), (deny_key, possibility.deny)):
            for square, state in conditions.items():
                if state in (EMPTY, ENEMY):
                    continue
                self.named[state] += 1
                if state not in self._asked:
                    self._asked[state] = (*path, key, square)
                if key == must_key:
                    needs.add(state)
        if possibility.effects is not None:
            makes = self._add_effects(path, possibility.effects)
            self._steps.add((frozenset(needs), frozenset(makes)))

    def _add_effects(self, path: Path, effects: Transition) -> set[str]:
        """What the effects make."""
        makes = set()
        board_key = ("perform",) if self._dialect == "perform" else ("diff", "board")
        for square, becomes in effects.board.items():
            if becomes is not None:
                makes.add(becomes)
                if becomes not in self._made:
                    self._made[becomes] = (*path, *board_key, square)
        for held, delta in effects.hands.items():
            if delta > 0:
                makes.add(held)
                if held not in self._made:
                    self._made[held] = (*path, "diff", "hands", held)
        return makes

    @property
    def known(self) -> set[str]:
        """The pieces that can be on the board, as far as the document says."""
        return {*self._ruled, *self._made, *self._start}

    def missing(self) -> Iterator[Problem]:
        """Pieces without rules that effects make, and pieces of conditions that nothing brings about."""
        ruled = set(self._ruled)
        for piece, path in self._made.items():
            if piece not in ruled:
                yield finding("no-rules", path, f"{piece} has no rules in this document: once it is there, it stays")
        for piece, path in self._asked.items():
            if piece not in ruled and piece not in self._made and piece not in self._start:
                others = f" ({self.named[piece]} conditions name it)" if self.named[piece] > 1 else ""
                message = f"{piece} has no rules in this document and no effect makes it{others}"
                yield finding("unknown-state", path, f"{message}: is it spelled as meant?")

    def unreachable(self) -> Iterator[Problem]:
        """Pieces with rules that are not in the start position and that nothing makes from there on.

        Without a start position every piece may be in it. A must-deny document keeps its effects to itself:
        what its pieces become, nobody can say here.
        """
        if not self._start or self._dialect == "must-deny":
            return
        reached = self._reached()
        for piece in self._ruled:
            if piece not in reached:
                message = f"{piece} is not in the start position, and no play from there makes it"
                yield finding("unreachable-piece", (piece,), message)

    def _reached(self) -> set[str]:
        """The pieces that can come to be, wherever; a possibility counts once all that it asks for is there."""
        waiting: defaultdict[str, list[tuple[set[str], frozenset[str]]]] = defaultdict(list)
        for needs, makes in self._steps:
            step = (set(needs), makes)
            for piece in needs:
                waiting[piece].append(step)
        reached: set[str] = set()
        fresh = list(self._start)
        while fresh:
            piece = fresh.pop()
            if piece in reached:
                continue
            reached.add(piece)
            for lacking, makes in waiting[piece]:
                lacking.discard(piece)
                if not lacking:
                    fresh.extend(makes)
        return reached


def _same_rules(pieces: Iterable[Piece], named: Counter[str]) -> Iterator[Problem]:
    """States that make no difference: not to the piece's own moves, and no condition asks for them."""
    alike: defaultdict[Hashable, list[Piece]] = defaultdict(list)
    for piece in pieces:
        if piece.identifier not in named:
            sources = frozenset(source.square for source in piece.sources)
            alike[replace(qpi.parse(piece.identifier), state=""), sources].append(piece)
    for group in alike.values():
        seen: dict[Hashable, str] = {}
        for piece in group if len(group) > 1 else ():
            # Two ways to be the same: to become the same piece, and to stay each what it is.
            rules = [_rules(piece, named_itself=True), _rules(piece, named_itself=False)]
            earlier = next((seen[each] for each in rules if each in seen), None)
            if earlier is not None:
                message = f"the same rules as {earlier}, and no condition distinguishes them"
                yield finding("same-rules", (piece.identifier,), message)
            for each in rules:
                seen.setdefault(each, piece.identifier)


def _rules(piece: Piece, named_itself: bool) -> Hashable:
    """All that a piece's rules say; effects name the piece itself, or leave its name out."""
    entries = set()
    for source, destination, _, possibility in piece.entries():
        effects = possibility.effects
        if effects is not None and not named_itself:
            board = {square: "" if each == piece.identifier else each for square, each in effects.board.items()}
            hands = {"" if each == piece.identifier else each: delta for each, delta in effects.hands.items()}
            possibility = replace(possibility, effects=replace(effects, board=board, hands=hands))
        entries.add((source.square, destination.square, content(possibility)))
    return named_itself, frozenset(entries)
