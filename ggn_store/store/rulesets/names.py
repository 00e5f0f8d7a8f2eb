"""The names of a SQLite file's rulesets, read without SQLAlchemy: a shell that completes them does not wait."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_NAMES = """
SELECT name FROM ruleset WHERE deleted_at IS NULL AND EXISTS (SELECT 1 FROM revision WHERE ruleset_id = ruleset.id)
ORDER BY name
"""


def of_file(file: Path) -> list[str]:
    """The rulesets that are not deleted, by name; none where the file is no store, or is being written."""
    if not file.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            return [name for (name,) in connection.execute(_NAMES)]
    except sqlite3.Error:
        return []
