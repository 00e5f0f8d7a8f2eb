"""How the squares of a board lie, as the text says that a document was made from: rules alone do not tell it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ggn_store.model.documents.document import Envelope
from ggn_store.model.documents.geometry import HEXAGONS

NETWORK: Final = "network"
# The structure that game descriptions call hexagons.
DESCRIBED_HEXAGONS: Final = "hex_grid"


class Layout(NamedTuple):
    """`form` is `network` with its lines in JSON, or how hexagons are labelled (see `HEXAGONS`); None of squares.

    With `has_holes` the board is a box around the squares that the game has, and squares that no rule names are none.
    """

    form: str | None = None
    has_holes: bool = False

    @property
    def is_network(self) -> bool:
        """Whether places are joined by lines, whatever their labels look like."""
        return self.form is not None and self.form.startswith(NETWORK)

    @property
    def lines(self) -> list[list[str]]:
        """The places of each line of a network; raises ValueError for a form that is none."""
        if not self.is_network:
            if self.form is not None and self.form not in HEXAGONS:
                raise ValueError("this is no form of a layout")
            return []
        return [line.split() for line in json.loads(str(self.form).removeprefix(NETWORK))]


PLAIN: Final = Layout()


def of(envelope: Envelope) -> Layout:
    """The layout that the definition or game description of a document states; squares without one."""
    text = envelope.definition
    if text is None:
        return PLAIN
    try:
        data: Mapping[str, Any] = json.loads(text) if envelope.is_described else tomllib.loads(text)
        form = _described(data["topology"]) if envelope.is_described else data.get("hexagons")
        Layout(form).lines  # noqa: B018
        return Layout(form, envelope.board is None)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return PLAIN  # whoever reads all of it says what is wrong


def _described(topology: Mapping[str, Any]) -> str | None:
    if topology.get("type") == NETWORK:
        return f"{NETWORK} {json.dumps(topology.get('lines', []), ensure_ascii=False, separators=(',', ':'))}"
    return "rows" if str(topology.get("structure")).strip().startswith(DESCRIBED_HEXAGONS) else None
