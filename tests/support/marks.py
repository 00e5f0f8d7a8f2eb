"""Conflict files as people edit them."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path

_CHUNK = re.compile(
    r"^<{7,} ours: [^\n]*\n(?P<ours>.*?)^\|{7,} base: [^\n]*\n(?P<base>.*?)^={7,}\n(?P<theirs>.*?)"
    r"^>{7,} theirs: [^\n]*\n",
    re.MULTILINE | re.DOTALL,
)


def taken(text: str, *sides: str) -> str:
    """A text with marks, where one side is taken each time: these in turn."""
    turns = cycle(sides)
    return _CHUNK.sub(lambda found: found[next(turns)], text)


def take(file: str | Path, *sides: str) -> None:
    """Take one side of each conflict in a file: these in turn."""
    path = Path(file)
    path.write_bytes(taken(path.read_bytes().decode(), *sides).encode())


def chunks(text: str) -> list[dict[str, str]]:
    """What stands between the marks."""
    return [found.groupdict() for found in _CHUNK.finditer(text)]
