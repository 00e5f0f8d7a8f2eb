"""The users' guides: a Markdown file for each topic, shipped with the package; `ggn-store guide` shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

# In the order in which a reader may want them.
TOPICS: Final = (
    "moves",
    "documents",
    "defining-games",
    "game-descriptions",
    "python",
    "teams",
    "servers",
    "sql",
    "notebooks",
    "analyses",
    "pictures",
    "web",
    "first-visit",
    "columns",
    "speed",
    "commands",
    "limits",
)
_HERE: Final = Path(__file__).parent
# What the world's board games have in common, with plots; for Jupyter.
NOTEBOOK: Final = _HERE / "world.ipynb"


def text(topic: str) -> str:
    """The Markdown of one of the TOPICS."""
    return (_HERE / f"{topic}.md").read_text(encoding="utf-8")


def summary(topic: str) -> str:
    """What a guide is about: its first paragraph."""
    _, paragraph, *_ = text(topic).split("\n\n", 2)
    return " ".join(paragraph.split())
