"""Conflict files as people edit them."""

from __future__ import annotations

import re
from pathlib import Path

_CHUNK = re.compile(
    r"^<{7,} ours: [^\n]*\n(?P<ours>.*?)^\|{7,} base: [^\n]*\n(?P<base>.*?)^={7,}\n(?P<theirs>.*?)"
    r"^>{7,} theirs: [^\n]*\n",
    re.MULTILINE | re.DOTALL,
)


def taken(text: str, side: str) -> str:
    """A text with marks, where one side is taken each time."""
    return _CHUNK.sub(lambda found: found[side], text)


def take(file: str | Path, side: str) -> None:
    """Take one side of each conflict in a file."""
    path = Path(file)
    path.write_bytes(taken(path.read_bytes().decode(), side).encode())


def chunks(text: str) -> list[dict[str, str]]:
    """What stands between the marks."""
    return [found.groupdict() for found in _CHUNK.finditer(text)]
