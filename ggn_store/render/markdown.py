"""Markdown for a terminal."""

from __future__ import annotations

import io
import re
from typing import Final

_MOST_COLUMNS: Final = 100  # longer lines are hard to read
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_PICTURE: Final = re.compile(r"!\[([^]]*)]\([^)]*\)")
_LINK_TO_GUIDE: Final = re.compile(r"\[([^]]+)]\(([a-z-]+)\.md(?:#[^)]*)?\)")
_LINK_TO_HEADING: Final = re.compile(r"\[([^]]+)]\(#[^)]*\)")


def markdown(text: str, width: int, color: bool) -> str:
    """The text as a terminal of so many columns shows it; links to other guides become their commands."""
    from rich.console import Console
    from rich.markdown import Markdown

    for pattern, shown in (
        (_COMMENT, ""),
        (_PICTURE, r"*\1*"),
        (_LINK_TO_GUIDE, r"\1 (`ggn-store guide \2`)"),
        (_LINK_TO_HEADING, r"\1"),
    ):
        text = pattern.sub(shown, text)
    written = io.StringIO()
    console = Console(file=written, width=min(width, _MOST_COLUMNS), force_terminal=True, no_color=not color)
    console.print(Markdown(text, hyperlinks=False, code_theme="ansi_dark"))
    return written.getvalue()
