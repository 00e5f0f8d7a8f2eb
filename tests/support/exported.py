"""A store to export, and its rows as a plain query of the views and readers of the files find them."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from ggn_store import Store
from ggn_store.api.questions.views import Format
from ggn_store.store.schema.views import VIEWS, View
from tests.support.views import GAMES, played, rows

Row = tuple[Any, ...]

LABELS = ('=1+1,"x"', "a\nb", "'; DROP TABLE piece; --", "NULL", " lead", "é\u202e", "\\N", "trail ", "x\ry", "{x}%s:p")
HOSTILE = {
    "CHESS:P": {
        label: {
            LABELS[(number + 3) % len(LABELS)]: [
                {"require": {"NA": "empty"}, "perform": {label: None, "NA": "CHESS:P"}}
            ]
        }
        for number, label in enumerate(LABELS)
    }
}

# By number, b1 comes before a2.
SQUARES = {
    "C:P": {
        "a1": {
            "a2": [
                {
                    "must": {"b1": "empty", "a2": "empty", "b2": "enemy"},
                    "diff": {
                        "board": {"a1": None, "b1": "C:P", "a2": None, "b2": "C:N"},
                        "hands": {"C:P": 1, "C:+P": 2, "C:N": -1},
                    },
                }
            ]
        }
    }
}


def fill(store: Store) -> None:
    """Several revisions, a deleted ruleset, tags, hostile texts, and everything that may be NULL."""
    for dialect, document in GAMES.items():
        store.load(played() if dialect == "gdl" else document, f"games/{dialect}", author="Ann")
    changed = {name: value for name, value in GAMES["diff"].items() if name != "c:p'"}
    store.load(changed, "games/diff", message='=HYPERLINK("http://x")\n\'two\', "lines"\t,')
    store.load(SQUARES, "B")
    store.load(GAMES["must-deny"], "a")
    store.load(HOSTILE, "hostile", author="NULL", message=" ")
    store.load(GAMES["must-deny"], "gone")
    store.delete("gone")
    store.tags.set("games/diff@1", "stable", author="Ann")
    store.tags.set("games/diff@1", "old", author="Ann")


# What the rows of these views are ordered by within a revision: those of how a game is played, and others.
OF_PLAY = {
    "v_duties": ("duty", "piece"),
    "v_reverts": ("marked",),
    "v_crossings": ("piece", "source", "destination", "ordinal"),
    "v_outcomes": ("ordinal",),
}
OF_REVISION = OF_PLAY | {"v_squares": ("number",), "v_concepts": ()}


# --- the oracle: a plain query of the view, put in order in Python ---


def in_utc(value: Any) -> Any:
    if value is None:
        return None
    time = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def expected(store: Store, view: View, suffix: str = "") -> list[Row]:
    convert: dict[str, Callable[[Any], Any]] = {
        "time": in_utc,
        "boolean": lambda value: None if value is None else bool(value),
    }
    name = view.name if view.every is None else f"{view.name}{suffix}"
    places = {
        (row["ruleset"], row["revision"], row["piece"]): row["ordinal"]
        for row in rows(store, "SELECT ruleset, revision, piece, ordinal FROM v_pieces_all")
    }

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        within: dict[str, Callable[[], tuple[Any, ...]]] = {
            "v_moves": lambda: (),
            "v_conditions": lambda: (row["polarity"] == "deny", row["square"].encode(), row["state"].encode()),
            "v_effects": lambda: (row["kind"] == "hand", (row["square"] or "").encode(), (row["held"] or "").encode()),
        }
        of_state = lambda: (row["variable"].encode(), row["value"].encode())  # noqa: E731
        within |= {"v_guards": of_state, "v_state_effects": of_state}
        if view.name in OF_REVISION:
            return (
                row["ruleset"].encode(),
                row["revision"],
                *("" if row[key] is None else row[key] for key in OF_REVISION[view.name]),
            )
        last = (row["possibility"], *within[view.name]()) if view.name in within else ()
        of_piece = places.get((row["ruleset"], row["revision"], row.get("piece")), 0)
        return (row["ruleset"].encode(), row["revision"], of_piece, *last)

    found = sorted(rows(store, f"SELECT * FROM {name}"), key=place)
    return [tuple(convert.get(c.type, lambda value: value)(row[c.name]) for c in view.columns) for row in found]


# --- readers of the formats ---


def from_parquet(directory: Path, view: View) -> list[Row]:
    return [tuple(row.values()) for row in pq.read_table(directory / f"{view.name}.parquet").to_pylist()]


def from_duckdb(directory: Path, view: View) -> list[Row]:
    with duckdb.connect(str(directory / "ggn.duckdb"), read_only=True) as connection:
        found = connection.execute(f"FROM {view.name}").fetchall()
    times = [column.type == "time" for column in view.columns]
    return [tuple(in_utc(value) if t else value for value, t in zip(row, times, strict=True)) for row in found]


def from_sqlite(directory: Path, view: View) -> list[Row]:
    with closing(sqlite3.connect(f"file:{directory / 'ggn.sqlite'}?mode=ro", uri=True)) as connection:
        query = f"SELECT * FROM {view.name} ORDER BY rowid"
        made = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?"
        if text := connection.execute(made, (view.name,)).fetchone():  # a view has no order; what it is made of has
            kind = view.name.removeprefix("piece_")
            query = f"{text[0].partition(') AS ')[2]} ORDER BY rules.possibility, {kind}.at"
        found = connection.execute(query).fetchall()
    convert: dict[str, Callable[[Any], Any]] = {
        "time": in_utc,
        "boolean": lambda value: {0: False, 1: True, None: None}[value],
    }
    types = [column.type for column in view.columns]
    return [tuple(convert.get(t, lambda v: v)(value) for value, t in zip(row, types, strict=True)) for row in found]


def csv_cells(text: str) -> Iterator[list[str | None]]:
    """The cells of a CSV file by the rules of RFC 4180; None where there is nothing, not even quotes."""
    at, row = 0, list[str | None]()
    while at < len(text):
        if text[at] == '"':
            cell, at = "", at + 1
            while text[at] != '"' or text[at : at + 2] == '""':
                cell, at = cell + text[at], at + (2 if text[at] == '"' else 1)
            at += 1
            row.append(cell)
        else:
            end = min(text.index("\n", at), text.find(",", at) % (len(text) + 1))
            assert not set(text[at:end]) & {'"', "\r"}
            row.append(text[at:end] or None)
            at = end
        if text[at] == "\n":
            yield row
            row = []
        at += 1
        if at and text[at - 1] == "," and text[at : at + 1] == "":
            row.append(None)


def from_csv(directory: Path, view: View) -> list[Row]:
    header, *found = csv_cells((directory / f"{view.name}.csv").read_bytes().decode())
    assert header == list(view.names)
    convert: dict[str, Callable[[str], Any]] = {
        "text": str,
        "integer": int,
        "boolean": lambda value: {"true": True, "false": False}[value],
        "time": lambda value: datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC),
    }
    types = [column.type for column in view.columns]
    return [
        tuple(None if value is None else convert[t](value) for value, t in zip(row, types, strict=True))
        for row in found
    ]


READERS: dict[Format, Callable[[Path, View], list[Row]]] = {
    "parquet": from_parquet,
    "duckdb": from_duckdb,
    "csv": from_csv,
    "sqlite": from_sqlite,
}


TABLES = [view.of_pieces or view for view in VIEWS]


def read(form: Format, directory: Path, view: View) -> list[Row]:
    """The rows of a view, put together in plain Python where they are in a table of pieces."""
    if view.of_pieces is None:
        return READERS[form](directory, view)
    rules: dict[int, list[Row]] = {}
    for row in READERS[form](directory, view.of_pieces):
        rules.setdefault(row[view.names.index("piece_id") - 2], []).append(row)
    listed = READERS[form](directory, VIEWS[1])
    place = VIEWS[1].names.index("piece_id")
    return [(*row[:2], *rule) for row in listed for rule in rules.get(row[place], [])]


def require_equal(store: Store, directory: Path, form: Format, suffix: str = "", *, expanded: bool = False) -> None:
    for view in VIEWS:
        found = (READERS[form] if expanded else functools.partial(read, form))(directory, view)
        wanted = expected(store, view, suffix)
        assert found == wanted, view.name
        assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in wanted]
