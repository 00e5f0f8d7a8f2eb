"""Game descriptions that others have published, which are not ours to keep: GGN_GDL_SPECS names their folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

_FOLDER: Final = os.environ.get("GGN_GDL_SPECS")

published = pytest.mark.skipif(_FOLDER is None, reason="GGN_GDL_SPECS names no folder of published descriptions")


def paths(*names: str) -> list[Path]:
    """The files of some descriptions; none where no folder is named."""
    return [] if _FOLDER is None else [Path(_FOLDER, f"{name}.json") for name in names]


def read(name: str) -> bytes:
    """The text of a description, for tests that are `published`."""
    [path] = paths(name)
    return path.read_bytes()
