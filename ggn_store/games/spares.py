"""What blasts spare: state variables that say of squares whether a piece stands there that a blast leaves alone.

Effects are the same whatever stands on a square, so that a capture is a possibility for each set of squares around it
where something is spared. Only squares where that can ever be have a variable. Promotions ask for such variables, too,
where two things must not stand on one square: a possibility denies one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ggn_store.games.rules import SIDES, Army, Definition, Form
from ggn_store.model.documents.variables import NO, YES, Variable
from ggn_store.model.moves.position import Position
from ggn_store.notation.qpi import side_of


@dataclass(frozen=True, slots=True)
class Spared:
    """The pieces that some rules ask for, and the variable of each square where one of them may stand."""

    pieces: frozenset[str]
    names: Mapping[str, str]


def letters(definition: Definition) -> list[tuple[str, ...]]:
    """The letters of what blasts spare, and of what must not be there beside something else."""
    found = [piece.blast.spares for piece in definition.pieces if piece.blast.spares]
    for form in definition.forms.values():
        found += [alone(definition, form) for rule in form.piece.promotions if rule.alone and rule.apart.patterns]
    return list(dict.fromkeys(found))


def alone(definition: Definition, form: Form) -> tuple[str]:
    """What says of a square whether one kind of piece is there: its letter, as long as no other kind has that."""
    kinds = {
        (each.piece.token, each.derived) for each in definition.forms.values() if each.piece.letter == form.piece.letter
    }
    return (form.piece.letter if len(kinds) == 1 else f"only {form.piece.token}{chr(39) * form.derived}",)


def spared(definition: Definition) -> Mapping[tuple[str, ...], Spared]:
    """What stands where, by the letters that rules name."""
    found = {}
    for names_of in letters(definition):
        forms = [
            form
            for form in definition.forms.values()
            if form.piece.letter in names_of or alone(definition, form) == names_of
        ]
        places = _places(definition, forms)
        names = {square: f"{''.join(names_of)} on {square}" for square in definition.board.squares if square in places}
        found[names_of] = Spared(frozenset(form.identifier for form in forms), names)
    return found


def variables(definition: Definition) -> list[Variable]:
    """The state variables of a game, with what they are at the start."""
    board = {} if definition.start is None else Position.from_text(definition.start).board
    return [
        Variable(name, (NO, YES), YES if board.get(square) in each.pieces else NO, square, tuple(sorted(each.pieces)))
        for each in spared(definition).values()
        for square, name in each.names.items()
    ]


def _places(definition: Definition, forms: Sequence[Form]) -> frozenset[str]:
    """Where pieces can come to stand from where they start; all squares, if they come from anywhere else."""
    tokens = {form.piece.token for form in forms}
    made = {token for piece in definition.pieces for rule in piece.promotions for token in rule.to}
    made |= {piece.wall.piece for piece in definition.pieces if piece.wall is not None}
    castle = any(castling for piece in definition.pieces for castling in piece.castling if castling.rook in tokens)
    castle = castle or any(form.piece.castling for form in forms)
    turned = any(piece.turns.patterns or (piece.drop and piece.drop.encloses.patterns) for piece in definition.pieces)
    if definition.start is None or castle or turned or made & tokens or any(form.can_be_held for form in forms):
        return frozenset(definition.board.squares)
    board = Position.from_text(definition.start).board
    found: set[str] = set()
    for side in SIDES:
        army = definition.army(side)
        for token in tokens:
            own = [form for form in army.forms if form.piece.token == token]
            names = [form.identifier for form in own]
            seeds = {square for square, piece in board.items() if piece in names and side_of(piece) == side}
            found |= _reached(army, own, seeds, tokens)
    return frozenset(found)


def _reached(army: Army, forms: Sequence[Form], seeds: set[str], tokens: set[str]) -> set[str]:
    """The squares that one kind of piece reaches from some, as long as it has to become nothing else."""
    found, fresh = set(seeds), list(seeds)
    while fresh:
        source = fresh.pop()
        for form in forms:
            for route in army.ways(form, source) if form.can_stand(source) else ():
                square = route.destination
                if square not in found and not _must_change(army, form, source, square, tokens):
                    found.add(square)
                    fresh.append(square)
    return found


def _must_change(army: Army, form: Form, source: str, square: str, tokens: set[str]) -> bool:
    """Whether a move has to make something of a piece that is not spared."""
    for rule in form.piece.promotions:
        if rule.applies(form.side, source, square, captures=False):
            made = [army.plain(token) for token in rule.to if token not in tokens]
            return rule.forced == "yes" and any(each is not None and each.can_stand(square) for each in made)
    return False
