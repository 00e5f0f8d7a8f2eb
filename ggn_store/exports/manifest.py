"""What is in an export: `manifest.json` for programs, `README.md` for people; both made from what the views say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ggn_store.store.schema.views import VIEWS
from ggn_store.store.sql.view_rows import Wanted

FORMAT: Final = "ggn-store export"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
README: Final = "README.md"
_MAX_BYTES: Final = 100_000_000
_OURS: Final = re.compile(r"manifest\.json|README\.md|ggn\.(duckdb|sqlite)|v_[a-z_]+\.(parquet|csv)")


def write(part: Path, form: str, files: Mapping[str, str], rows: Mapping[str, int], wanted: Sequence[Wanted]) -> None:
    """Write both; `files` and `rows` are by view."""
    views = {
        view.name: {
            "file": files[view.name],
            "row": view.row,
            "rows": rows[view.name],
            "columns": [{"name": each.name, "type": each.type, "meaning": each.meaning} for each in view.columns],
        }
        for view in VIEWS
    }
    revisions = [{"ruleset": each.ruleset, "revision": each.revision, "digest": each.digest} for each in wanted]
    said = {"format": FORMAT, "version": VERSION, "form": form, "views": views, "revisions": revisions}
    (part / MANIFEST).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (part / README).write_text(_readme(form, files, rows, wanted), encoding="utf-8")


def _readme(form: str, files: Mapping[str, str], rows: Mapping[str, int], wanted: Sequence[Wanted]) -> str:
    rulesets = len({each.ruleset for each in wanted})
    parts = [
        "# Rules of board games\n\n"
        f"Written by `ggn-store export --format {form}`: {rulesets:,} ruleset{'' if rulesets == 1 else 's'}, "
        f"{len(wanted):,} revision{'' if len(wanted) == 1 else 's'}, all of one moment; `{MANIFEST}` lists them, and "
        "says for programs what is said here. Rows are in the order of rulesets, revisions and their documents.\n",
        Path(__file__).with_name("reading").joinpath(f"{form}.md").read_text(encoding="utf-8"),
        "Views are joined by `piece_id` and `possibility`, and by `ruleset` and `revision`, too: a piece can be in "
        "several.\n",
    ]
    for view in VIEWS:
        lines = [f"| `{each.name}` | {each.type} | {each.meaning} |" for each in view.columns]
        parts.append(
            f"## {view.name}\n\n`{files[view.name]}`, {rows[view.name]:,} rows. A row is {view.row}.\n\n"
            "| column | type | meaning |\n|---|---|---|\n" + "\n".join(lines) + "\n"
        )
    return "\n".join(parts)


def files_of(directory: Path) -> set[str]:
    """The names of the files of the export in a directory; none where there is no export in it."""
    try:
        if (directory / MANIFEST).stat().st_size > _MAX_BYTES:
            return set()
        said: Any = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        listed = {MANIFEST, README, *(view["file"] for view in said["views"].values())}
        if said["format"] != FORMAT:
            return set()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()
    # Whatever the manifest lists: nothing else is called so.
    return {name for name in listed if _OURS.fullmatch(str(name)) and (directory / name).is_file()}
