"""The pictures that are tested, each by its name in tests/data/pictures, and how a PNG is read."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ggn_store import Position, Ruleset, generate, read_definition, ruleset
from ggn_store.api.loading.private import of_document
from tests.support.definitions import shipped
from tests.support.games import Games
from tests.support.gdl_tiny import hexes, network

PICTURES = Path(__file__).parents[1] / "data" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"

HOSTILE = ["<b>&\"'", "\x1b[2J", "\u202egnp", "]]>", "日本国の首都", "northern harbour", "a\tb", "\ufffe", "x" * 90]
LISTED: dict[str, Any] = {
    "CHESS:P": {HOSTILE[0]: {label: [{"perform": {HOSTILE[0]: None, label: "CHESS:P"}}] for label in HOSTILE[1:]}}
}
MIXED = Position(
    {"a1": "C:K^", "b2": "shogi:+p'", "d5": "s:-r", "h8": "OGI:+K^'", "e4": "S:K^", "e5": "s:k^", "f7": "c:q'"},
    {"C:P": 1, "shogi:p'": 222_222, "c:q": 3},
    "second",
)
SHOGI = Position.from_feen("rbs1k^/1g2p/5/P1S2/K^G1BR P2S/r12p s/S")
ITALIAN = Position.from_feen("+r1bq+k^bn+r/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/+RNBQ+K^2+R / C/c")


class Drawn(dict[str, Ruleset]):
    """Games of the library; in the large ones pieces but pawns make single steps, which takes no time to load."""

    def __init__(self, games: Games) -> None:
        super().__init__()
        self._games = games

    def __missing__(self, name: str) -> Ruleset:
        if name not in ("janggi", "omega"):
            return self._games[name]
        steps = re.sub('betza = "[^"i]*"', 'betza = "W"', shipped(name))
        return self.setdefault(name, of_document(generate(read_definition(steps))))


@pytest.fixture(scope="session")
def games(sqlite_games: Games) -> Drawn:
    return Drawn(sqlite_games)


CASES: dict[str, Callable[[dict[str, Ruleset]], str]] = {
    "chess-start": lambda games: games["chess"].pictures.draw(),
    "chess-pawn": lambda games: games["chess"].pictures.draw(piece="C:P", source="e5"),
    "chess-promotion": lambda games: games["chess"].pictures.draw(piece="c:p", source="b2"),
    "chess-castling": lambda games: games["chess"].pictures.draw(piece="C:+K^"),
    "chess-position": lambda games: games["chess"].pictures.draw(position=ITALIAN, source="f3"),
    "chess-mobility": lambda games: games["chess"].pictures.draw(piece="C:N", mobility=True),
    "chess-poster": lambda games: games["chess"].pictures.draw(poster=True),
    "minishogi-hands": lambda games: games["minishogi"].pictures.draw(position=SHOGI),
    "minishogi-drop": lambda games: games["minishogi"].pictures.draw(piece="S:P", source="*"),
    "xiangqi-cannon": lambda games: games["xiangqi"].pictures.draw(piece="X:C", source="e5"),
    "raumschach-unicorn": lambda games: games["raumschach"].pictures.draw(piece="C:U", source="c3C"),
    "omega-start": lambda games: games["omega"].pictures.draw(),
    "gomoku-drop": lambda games: games["gomoku"].pictures.draw(piece="G:S"),
    "mixed-styles": lambda games: games["chess"].pictures.draw(position=MIXED),
    "hexagons": lambda _: ruleset(hexes()).pictures.draw(piece="TINY:S"),
    "network": lambda _: ruleset(network()).pictures.draw(),
    "listed-squares": lambda _: ruleset(LISTED).pictures.draw(piece="CHESS:P"),
}


@pytest.fixture(scope="session")
def drawn(games: dict[str, Ruleset]) -> dict[str, str]:
    return {name: case(games) for name, case in CASES.items()}


def scanlines(image: bytes) -> tuple[int, int, list[bytes]]:
    """Width and height of a PNG of 8-bit channels, and its lines as they were packed."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed, head = 8, b"", b""
    while at < len(image):
        length, kind = struct.unpack(">I4s", image[at : at + 8])
        chunk = image[at + 8 : at + 8 + length]
        packed += chunk if kind == b"IDAT" else b""
        head = chunk if kind == b"IHDR" else head
        at += length + 12
    width, height, depth, color = struct.unpack(">IIBB", head[:10])
    assert depth == 8
    step = 1 + width * {2: 3, 6: 4, 0: 1}[color]
    data = zlib.decompress(packed)
    return width, height, [data[i : i + step] for i in range(0, len(data), step)]
