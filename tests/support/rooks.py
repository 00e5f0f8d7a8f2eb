"""A game of kings and one rook as a definition, and changes of its keys."""

from __future__ import annotations

from ggn_store import Document, generate, read_definition

TEXT = """title = "Rooks"
board = "3x3"
style = "C"
start = "2k^/3/R1K^ / C/c"  # kings and one rook

[zones]
last = "a3:c3"

[pieces.K]
betza = "K"
terminal = true

# Whoever likes it may change it.
[pieces.R]
betza = "R"
promotion = { zone = "last", to = ["N"] }

[pieces.N]
betza = "N"
"""


def changed(*changes: tuple[str, str], text: str = TEXT) -> str:
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


NAMED = ('betza = "N"', 'betza = "N"\nname = "knight"')
STEPS = ("terminal = true", 'terminal = true\nname = "king"')
OURS, THEIRS = ('betza = "R"', 'betza = "R3"  # three'), ('betza = "R"', 'betza = "R2"  # two')
TITLES = (('"Rooks"', '"Ours"'), ('"Rooks"', '"Theirs"'))


def made(*changes: tuple[str, str]) -> Document:
    return generate(read_definition(changed(*changes)))
