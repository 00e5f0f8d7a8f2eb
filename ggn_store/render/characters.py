"""What is written on pieces of shogi, xiangqi and janggi, by their names; it is in the file beside this."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast

from ggn_store.model.pictures.style import PieceSet
from ggn_store.notation.qpi import Side
from ggn_store.render.outlines import entries

SETS: Final[dict[PieceSet, dict[str, str]]] = {}
for _key, _written in entries(Path(__file__).with_suffix(".txt")).items():
    _pieces, _name = _key.split(" ", 1)
    SETS.setdefault(cast(PieceSet, _pieces), {})[_name] = _written


def character(pieces: PieceSet, name: str | None, side: Side) -> str | None:
    """What a set writes on a piece of a name; None where it has nothing for it."""
    found = SETS.get(pieces, {}).get(name or "")
    return None if found is None else found[0 if side == "first" else -1]
