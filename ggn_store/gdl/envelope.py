"""What a compiled document says before its pieces: title, start position, board, state variables, how it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ggn_store.gdl import ends
from ggn_store.gdl.kinds import OWNER, Kind, identity
from ggn_store.gdl.specification import Specification
from ggn_store.gdl.state_variables import PHASE, StateVariable
from ggn_store.model.documents import variables as model_variables
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Envelope
from ggn_store.model.documents.geometry import Lattice
from ggn_store.model.moves import play_text
from ggn_store.notation import feen, json_text
from ggn_store.notation.qpi import Side


def envelope(
    specification: Specification,
    kinds: Sequence[Kind],
    identifiers: Sequence[str],
    variables: Mapping[str, StateVariable],
    style: str,
) -> Envelope:
    """The envelope of a specification's document; each kind has the identifier at its place."""
    declared = [
        model_variables.Variable(name, tuple(sorted(variable.texts)), variable.texts[0])
        for name, variable in variables.items()
        if name != PHASE or len(variable.values) > 1
    ]
    by_kind = {
        identity(kind.owner, kind.schema, kind.attributes): identifier
        for kind, identifier in zip(kinds, identifiers, strict=True)
    }
    board = _board(specification)
    return Envelope(
        title=specification.title,
        start=_start(specification, by_kind, style),
        board=None if board is None else board.shape_text,
        definition=specification.text or None,
        variables=model_variables.text(declared),
        play=play_text.text(ends.play(specification, kinds, identifiers)),
    )


def _start(specification: Specification, by_kind: Mapping[tuple[object, ...], str], style: str) -> str | None:
    """The position of the setup in FEEN, in JSON where the board is none that FEEN can write; None without one."""
    if not specification.setup:
        return None
    placed = {}
    hands: Counter[str] = Counter()
    for placement in specification.setup:
        attributes = dict(placement.attributes)
        identifier = by_kind.get(identity(attributes.pop(OWNER), placement.schema, attributes))
        if identifier is None:
            return None
        if placement.in_hand:
            hands[identifier] += placement.in_hand
        for node in placement.nodes:
            placed[node] = identifier
    side: Side = "first" if specification.first_player == specification.players[0].name else "second"
    board = _board(specification)
    if board is None or board.shape is None or (len(board.shape) > 1 and board.shape[-1] == 1):
        return json_text.compact({"board": placed, "hands": hands, "side": side})
    return feen.text(feen.Feen(board.shape, placed, hands, side, (style, style)))


def _board(specification: Specification) -> Board | None:
    geometry = specification.topology.geometry
    return geometry.board if isinstance(geometry, Lattice) else None
