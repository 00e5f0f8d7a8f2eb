"""How a game is played: what its definition says of it in `[play]` and `host`, and what follows from its pieces.

A definition names pieces as their tables do, and squares as the first player sees them; the values of
`model.moves.play` that are made of it name identifiers and squares of both sides. Marks that revert and squares crossed
are not written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from ggn_store.games import spares
from ggn_store.games.rules import SIDES, Definition, End, SaidOfPlay
from ggn_store.games.squares import Squares
from ggn_store.games.toml_text import TomlTable, TomlValues
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import Envelope
from ggn_store.model.documents.geometry import Lattice
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import DUTIES, HOST_DUTIES, Crossing, Duty, Outcome, Play
from ggn_store.notation import cell
from ggn_store.notation.qpi import Side

KEYS: Final = ("duties", "outcome")
_PAWN: Final = "P"


def read(values: TomlValues, data: TomlTable, squares: Squares, tokens: Mapping[Side, Mapping[str, Any]]) -> SaidOfPlay:
    """What a definition says; a duty may also stand in `host`, where all of them were once."""
    table = values.table(data, "play")
    values.known_keys(table, ("play",), "play", KEYS)
    named = values.texts(data, "host")
    for number, name in enumerate(named):
        if name not in DUTIES and name not in HOST_DUTIES:
            allowed = ", ".join(HOST_DUTIES)
            values.complain(("host", number), "GGN leaves no such duty to the host", name, allowed)
    written = {key: table[key] for key in KEYS if key in table}
    outcomes = list(values.items(table, "outcome", ("play",)))
    if "outcome" in written:
        # Here squares are a zone, which is read below: until then equal ones have one name.
        listed = [item.get("squares") for item, _ in outcomes]
        names = [each if isinstance(each, str) and each else f"zone {listed.index(each)}" for each in listed]
        written["outcome"] = [
            item | ({"squares": [name]} if "squares" in item else {}) | _edges(item, at, squares)
            for (item, at), name in zip(outcomes, names, strict=True)
        ]
    said = play_text.read(written, values.complaints, ("play",))
    play_text.check_duties(said, values.complaints, ("play",), has_definition=True)
    zones = [squares.optional_zone(item, "squares", at) for item, at in outcomes]
    if values.complaints:
        return SaidOfPlay()
    named_pieces = {"duties": [each.pieces for each in said.duties], "outcome": [each.pieces for each in said.outcomes]}
    for key, of_each in named_pieces.items():
        for number, pieces in enumerate(of_each):
            for token in pieces:
                if not any(token in tokens[side] for side in SIDES):
                    known = ", ".join(dict.fromkeys(token for side in SIDES for token in tokens[side]))
                    values.complain(("play", key, number, "pieces"), "no side has such a piece", token, known)
    duties = {name: Duty(name) for name in named if name in DUTIES} | {each.name: each for each in said.duties}
    ends = (End(replace(each, squares=()), zone) for each, zone in zip(said.outcomes, zones, strict=True))
    return SaidOfPlay(tuple(duties.values()), tuple(ends), tuple(name for name in named if name in HOST_DUTIES))


def _edges(item: TomlTable, path: tuple[str | int, ...], squares: Squares) -> dict[str, Any]:
    """The edges of an outcome, each of which is an area of the board, the same for both sides; nothing without any."""
    edges = item.get("edges")
    if not isinstance(edges, list):
        return {}
    path = (*path, "edges")
    return {"edges": [" ".join(squares.squares({"": edge}, "", path, "first")) for edge in edges]}


def envelope(definition: Definition) -> Envelope:
    """What goes with the document of a definition."""
    return Envelope(
        title=definition.title,
        source=definition.source,
        start=definition.start,
        board=definition.board.shape_text,
        definition=definition.text,
        variables=variables.text(spares.variables(definition)),
        play=play_text.text(derive(definition)),
    )


def derive(definition: Definition) -> Play:
    """How the game is played, in the canonical form."""
    said = definition.said
    forms = definition.forms.items()
    reverts = {name: form.piece.identifier(form.side, form.style) for name, form in forms if form.kind == "marked"}
    safe = any(duty.name == "royal-safety" for duty in said.duties)
    crossing = dict.fromkeys(_crossings(definition)) if safe else ()
    duties = tuple(Duty(duty.name, _about(definition, duty)) for duty in said.duties)
    outcomes = tuple(outcome for end in said.ends for outcome in _outcomes(definition, end))
    return play_text.parse(play_text.text(Play(duties, reverts, tuple(crossing), outcomes, said.host)))


def _crossings(definition: Definition) -> Iterator[Crossing]:
    for form in definition.forms.values():
        for castling in form.piece.castling if form.kind == "unmoved" else ():
            if castling.side == form.side:
                way = tuple(_way(definition.lattice, castling.source, castling.destination))
                yield Crossing(form.identifier, castling.source, castling.destination, way)


def _way(lattice: Lattice, source: str, destination: str) -> Iterator[str]:
    """The squares of a king's way in castling, from its start to its end."""
    if lattice.hexagonal and (lines := lattice.lines(source, destination)):
        yield from (source, *lines[0], destination)
        return
    (file, *rest), (last, *_) = cell.parse(source), cell.parse(destination)
    step = 1 if last >= file else -1
    for each in range(file, last + step, step):
        yield cell.text((each, *rest))


def _about(definition: Definition, duty: Duty) -> tuple[str, ...]:
    """The identifiers of the pieces that a duty is about, where it is not about all."""
    if duty.name == "no-leap-from-check" and not duty.pieces:
        forms = definition.forms.items()
        return tuple(name for name, form in forms if form.kind == "unmoved" and form.piece.terminal)
    if duty.name == "no-drop-mate" and not duty.pieces:
        limited = [each.token for each in definition.pieces if each.drop and each.drop.file_limit]
        named = _identifiers(definition, limited or [_PAWN], SIDES)
        return tuple(each for each in named if definition.forms[each].can_be_held)
    return _identifiers(definition, duty.pieces, SIDES)


def _identifiers(definition: Definition, tokens: Collection[str], sides: Collection[Side]) -> tuple[str, ...]:
    forms = definition.forms.items()
    return tuple(name for name, form in forms if form.piece.token in tokens and form.side in sides)


def _outcomes(definition: Definition, end: End) -> Iterator[Outcome]:
    """What an end of the definition is for both sides: one outcome where it is the same, else one each.

    Pieces that a side does not have say nothing of it: without pieces an outcome would be about all.
    """
    outcome, zone = end.outcome, end.zone
    # These are about the pieces of both sides at once.
    is_of_both = outcome.when in ("quiet", "material")
    sides = SIDES if outcome.side is None or is_of_both else (outcome.side,)
    if zone is None or is_of_both or (zone.first == zone.second and len(sides) > 1):
        found = [replace(outcome, squares=() if zone is None else tuple(zone.first))]
    else:
        found = [replace(outcome, side=side, squares=tuple(zone.of(side))) for side in sides]
    for each in found:
        pieces = _identifiers(definition, outcome.pieces, sides if each.side is None or is_of_both else (each.side,))
        if pieces or not outcome.pieces:
            yield replace(each, pieces=pieces)
