"""Logs as text and as flat records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ggn_store.errors import printable
from ggn_store.model.teams.history import Blame, LogEntry
from ggn_store.render.records import labelled

LOG_COLUMNS: Final = ("revision", "parents", "created_at", "author", "tags", "message", "changes")
LOG_FIELDS: Final = (
    *("name", "revision", "parents", "lineage", "digest", "created_at", "author", "tags", "proposal"),
    *("pieces_added", "pieces_removed", "pieces_changed", "fields", "message"),
)
BLAME_COLUMNS: Final = ("revision", "author", "created_at", "piece", "source", "destination")
BLAME_FIELDS: Final = (
    *("field", "piece", "source", "destination", "revision", "author", "created_at", "message", "lineage"),
)

_DIGITS: Final = 12
_SUBJECT: Final = 60
_HEADING: Final = "\x1b[33m"
_TAGS: Final = "\x1b[36m"
_PLAIN: Final = "\x1b[0m"


def log_text(entries: Iterable[LogEntry], width: int | None = None) -> Iterator[str]:
    """Revisions as `git log` shows commits, with its colours: a heading, who and when, what changed, the message.

    But for the message, no line is longer than `width`.
    """
    before = ""
    for entry in entries:
        revision = entry.revision
        lines = [f"{_HEADING}{revision} sha256:{revision.lineage[:_DIGITS]}{_PLAIN}"]
        if entry.tags:
            lines[0] += f" {_TAGS}({', '.join(entry.tags)}){_PLAIN}"
        merged = (
            None if revision.merged is None else f"{revision.name}@{revision.parent} {revision.name}@{revision.merged}"
        )
        told = [("Merge", merged), ("Review", entry.proposal), ("Author", revision.author)]
        told += [("Date", f"{revision.created_at:%Y-%m-%d %H:%M:%S} UTC"), ("Changes", str(entry.changes))]
        for each in entry.renames:
            who = "" if each.author is None else f" by {each.author}"
            why = "" if each.message is None else f": {each.message}"
            when = f"{each.created_at:%Y-%m-%d %H:%M:%S} UTC"
            told.append(("Renamed", f"{each.old_name} to {each.new_name}, {when}{who}{why}"))
        lines += [labelled(f"{label}:", [text], 9, width) for label, text in told if text is not None]
        if revision.message is not None:
            lines += ["", *(f"    {printable(line)}".rstrip() for line in revision.message.splitlines())]
        yield before + "".join(f"{line}\n" for line in lines)
        before = "\n"


def log_rows(entries: Iterable[LogEntry]) -> Iterator[Mapping[str, Any]]:
    """Revisions as rows of a table, for people: one line each, with the beginning of the message."""
    for entry in entries:
        [subject, *_] = (entry.revision.message or "").strip().splitlines() or [""]
        if len(subject) > _SUBJECT:
            subject = subject[: _SUBJECT - 1] + "…"
        yield _flat(entry) | {"message": subject, "changes": str(entry.changes)}


def log_fields(entries: Iterable[LogEntry]) -> Iterator[Mapping[str, Any]]:
    """Revisions as rows of CSV, for programs: counts of pieces, the whole message."""
    for entry in entries:
        changes = entry.changes
        yield _flat(entry) | {
            "pieces_added": len(changes.added),
            "pieces_removed": len(changes.removed),
            "pieces_changed": len(changes.changed),
            "fields": " ".join(changes.fields),
        }


def _flat(entry: LogEntry) -> dict[str, Any]:
    data = entry.revision.data() | {"proposal": entry.proposal}
    return data | {"parents": " ".join(map(str, data["parents"])), "tags": " ".join(entry.tags)}


def blame_rows(blames: Iterable[Blame]) -> Iterator[Mapping[str, Any]]:
    """Blames as rows of a table, for people: a field stands in brackets where entries have their piece."""
    for blame in blames:
        data = blame.data()
        yield data if blame.field is None else data | {"piece": f"({blame.field})"}
