"""What is in an export: `manifest.json` for programs, `README.md` for people; both made from what the views say."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ggn_store.errors import counted
from ggn_store.store.bulk.view_rows import WantedRevision
from ggn_store.store.schema.views import View

FORMAT: Final = "ggn-store export"
VERSION: Final = 2
MANIFEST: Final = "manifest.json"
README: Final = "README.md"
_MAX_BYTES: Final = 100_000_000
_OURS: Final = re.compile(r"manifest\.json|README\.md|views\.sql|ggn\.(duckdb|sqlite)|(v|piece)_[a-z_]+\.(parquet|csv)")


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """A table of an export: what it holds, in which file, and how many rows."""

    view: View
    file: str
    rows: int


def write(
    part: Path,
    form: str,
    tables: Sequence[ExportedTable],
    joined: Sequence[View],
    beside: Sequence[str],
    wanted: Sequence[WantedRevision],
) -> None:
    """Write both; `joined` are the views that are made of tables, `beside` the names of other files."""
    said = {
        "format": FORMAT,
        "version": VERSION,
        "form": form,
        "tables": {each.view.name: {"file": each.file, "rows": each.rows, **_described(each.view)} for each in tables},
        "views": {view.name: {"query": view.joined, **_described(view)} for view in joined},
        "beside": list(beside),
        "revisions": [{"ruleset": each.ruleset, "revision": each.revision, "digest": each.digest} for each in wanted],
    }
    (part / MANIFEST).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (part / README).write_text(_readme(form, tables, joined, wanted), encoding="utf-8")


def _described(view: View) -> dict[str, Any]:
    columns = [{"name": each.name, "type": each.type, "meaning": each.meaning} for each in view.columns]
    return {"row": view.row, "columns": columns}


def _readme(
    form: str, tables: Sequence[ExportedTable], joined: Sequence[View], wanted: Sequence[WantedRevision]
) -> str:
    rulesets = len({each.ruleset for each in wanted})
    parts = [
        "# Rules of board games\n\n"
        f"Written by `ggn-store export --format {form}`: {counted(rulesets, 'ruleset')}, "
        f"{counted(len(wanted), 'revision')}, all of one moment; `{MANIFEST}` lists them, and "
        "says for programs what is said here. Rows of tables are in the order of rulesets, revisions and documents.\n",
        Path(__file__).with_name("reading").joinpath(f"{form}.md").read_text(encoding="utf-8"),
        "Views are joined by `piece_id` and `possibility`, and by `ruleset` and `revision`, too: a piece can be in "
        "several.\n",
    ]
    parts += [_section(each.view, f"`{each.file}`, {each.rows:,} rows.") for each in tables]
    parts += [_section(view, f"```sql\n{view.joined}\n```\n\n") for view in joined]
    return "\n".join(parts)


def _section(view: View, said: str) -> str:
    lines = [f"| `{each.name}` | {each.type} | {each.meaning} |" for each in view.columns]
    return (
        f"## {view.name}\n\nA row is {view.row}. {said}\n\n"
        "| column | type | meaning |\n|---|---|---|\n" + "\n".join(lines) + "\n"
    )


def files_of(directory: Path) -> set[str]:
    """The names of the files of the export in a directory; none where there is no export in it."""
    try:
        if (directory / MANIFEST).stat().st_size > _MAX_BYTES:
            return set()
        said: Any = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        listed = {MANIFEST, README, *said["beside"], *(table["file"] for table in said["tables"].values())}
        if said["format"] != FORMAT:
            return set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()
    # Whatever the manifest lists: nothing else is called so.
    return {name for name in listed if _OURS.fullmatch(str(name)) and (directory / name).is_file()}
