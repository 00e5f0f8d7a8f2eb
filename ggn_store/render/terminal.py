"""Pictures on terminals that can show them: the protocols of kitty and of iTerm2."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Final, Literal

PictureProtocol = Literal["kitty", "iterm2"]

_CHUNK: Final = 4096
_KITTY: Final = frozenset({"kitty", "ghostty"})
_ITERM2: Final = frozenset({"iTerm.app", "WezTerm", "mintty"})


def protocol(environment: Mapping[str, str]) -> PictureProtocol | None:
    """The protocol that the terminal says it speaks, None where it says nothing, or something stands in between.

    Inside tmux and screen pictures would have to be wrapped, and would stay where the text scrolls: none there.
    """
    term = environment.get("TERM", "")
    if environment.get("TMUX") or term.startswith(("screen", "tmux", "dumb")):
        return None
    program = environment.get("TERM_PROGRAM", "")
    if environment.get("KITTY_WINDOW_ID") or term in ("xterm-kitty", "xterm-ghostty") or program in _KITTY:
        return "kitty"
    if program in _ITERM2 or environment.get("LC_TERMINAL") == "iTerm2":
        return "iterm2"
    return None


def shown(png: bytes, way: PictureProtocol) -> Iterator[str]:
    """What is written to the terminal for it to show the picture, in parts; then a line's end."""
    data = base64.standard_b64encode(png).decode("ascii")
    if way == "iterm2":
        yield f"\x1b]1337;File=inline=1;size={len(png)};preserveAspectRatio=1:{data}\x07\n"
        return
    for start in range(0, len(data), _CHUNK):
        more = int(start + _CHUNK < len(data))
        keys = f"a=T,f=100,q=2,m={more}" if start == 0 else f"m={more}"
        yield f"\x1b_G{keys};{data[start : start + _CHUNK]}\x1b\\"
    yield "\n"
