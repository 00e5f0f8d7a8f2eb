"""SAN: `e4`, `Nbd7`, `exd6`, `e8=Q+`, `O-O`, `P@e4#`, `Nc3/H` for what enters by gating, `Qd7,g7`, `--`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import MoveError, quote

_PIECE: Final = r"\+?[A-Z]'?"
_SQUARE: Final = "[a-z][1-9][0-9]?"
_SAN: Final = re.compile(
    rf"(?:(?P<castling>[O0]-[O0](?:-[O0])?)(?:/(?P<entering>{_PIECE})(?P<gate>{_SQUARE}))?(?:,(?P<beside>{_SQUARE}))?"
    rf"|(?P<drop>{_PIECE})?@(?P<on>{_SQUARE})"
    rf"|(?P<piece>{_PIECE})?(?P<file>(?!x[a-z][1-9])[a-z])?(?P<rank>[1-9][0-9]?)?(?P<captures>[x:])?-?(?P<to>{_SQUARE})"
    rf"(?:=(?P<promotion>\+?[A-Za-z]'?)|(?P<bare>[A-Z]))?(?:/(?P<enters>{_PIECE}))?(?:,(?P<left>{_SQUARE}))?"
    r"|--)(?:e\.p\.)?(?P<check>[+#]?)\+?[!?]{0,2}"
)


@dataclass(frozen=True, slots=True)
class San:
    """A move as SAN says it; `piece` is "" for a pawn, `file` and `rank` tell pieces apart that can go there.

    `castling` is `O-O`, `O-O-O` or "". `enters` is the piece that enters by gating, on `gate` where that is not clear.
    On `left` the move leaves something else, such as an arrow. A pass has neither a destination nor a castling.
    """

    destination: str = ""
    piece: str = ""
    file: str = ""
    rank: str = ""
    captures: bool = False
    promotion: str = ""
    dropped: bool = False
    castling: str = ""
    enters: str = ""
    gate: str = ""
    check: str = ""
    left: str = ""

    def __str__(self) -> str:
        entering = f"/{self.enters}{self.gate}" if self.enters else ""
        left = f",{self.left}" if self.left else ""
        if self.castling:
            return self.castling + entering + left + self.check
        if not self.destination:
            return "--" + self.check
        if self.dropped:
            return f"{self.piece or 'P'}@{self.destination}{self.check}"
        source = self.piece + self.file + self.rank + "x" * self.captures
        promotion = f"={self.promotion}" if self.promotion else ""
        return source + self.destination + promotion + entering + left + self.check


def parse(text: str) -> San:
    """The move that SAN writes; raises MoveError, quoting it."""
    found = _SAN.fullmatch(text)
    if found is None:
        raise MoveError(f"{quote(text)} is not a move in SAN, such as e4, Nbd7, e8=Q, O-O or P@e4")
    said = {name: part or "" for name, part in found.groupdict().items()}
    return San(
        said["to"] or said["on"],
        (said["drop"] or said["piece"]).removeprefix("P"),
        said["file"],
        said["rank"],
        bool(said["captures"]),
        (said["promotion"] or said["bare"]).upper(),
        bool(said["on"]),
        said["castling"].replace("0", "O"),
        said["entering"] or said["enters"],
        said["gate"],
        said["check"],
        said["beside"] or said["left"],
    )
