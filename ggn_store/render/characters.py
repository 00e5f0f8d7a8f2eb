"""What is written on pieces of shogi, xiangqi and janggi, by their names: for the first side, and for the second.

Each character has its outline in `outlines`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ggn_store.model.pictures.style import PieceSet
from ggn_store.notation.qpi import Side

_SHOGI: Final[Mapping[str, str]] = {
    "king": "玉王",
    "rook": "飛",
    "dragon": "龍",
    "bishop": "角",
    "horse": "馬",
    "gold general": "金",
    "silver general": "銀",
    "promoted silver": "全",
    "knight": "桂",
    "promoted knight": "圭",
    "lance": "香",
    "promoted lance": "杏",
    "pawn": "歩",
    "tokin": "と",
    "drunk elephant": "酔",
    "crown prince": "太",
}
_XIANGQI: Final[Mapping[str, str]] = {
    "general": "帥將",
    "advisor": "仕士",
    "elephant": "相象",
    "horse": "傌馬",
    "chariot": "俥車",
    "cannon": "炮砲",
    "soldier": "兵卒",
    "banner": "旗",
}
_JANGGI: Final[Mapping[str, str]] = {
    "general": "楚漢",
    "guard": "士",
    "elephant": "象",
    "horse": "馬",
    "chariot": "車",
    "cannon": "包",
    "soldier": "卒兵",
}
SETS: Final[Mapping[PieceSet, Mapping[str, str]]] = {"shogi": _SHOGI, "xiangqi": _XIANGQI, "janggi": _JANGGI}


def character(pieces: PieceSet, name: str | None, side: Side) -> str | None:
    """What a set writes on a piece of a name; None where it has nothing for it."""
    found = SETS.get(pieces, {}).get(name or "")
    return None if found is None else found[0 if side == "first" else -1]
