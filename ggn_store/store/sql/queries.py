"""Questions in SQL from whoever likes to ask: read-only, in bounds, each in a process of its own."""

from __future__ import annotations

import difflib
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

from sqlalchemy import text

from ggn_store.errors import QueryError, StoreError, offer, printable, quote
from ggn_store.model.bounds import SqlBounds
from ggn_store.store.database.engine import Database
from ggn_store.store.database.postgres import SESSION, Postgres
from ggn_store.store.database.spill import Spill
from ggn_store.store.database.sqlite import SQLite
from ggn_store.store.schema import tables as t
from ggn_store.store.schema.views import POSITION_VIEWS, VIEWS, View
from ggn_store.store.sql import allowed_functions, child, processes, statement
from ggn_store.store.sql.given import Given, as_relations
from ggn_store.store.sql.statement import VALUES, QueryStatement, place

MAX_BYTES: Final = 32 << 20
_NUMBER: Final = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)")
READER = "ggn_reader"

_IN_SQLITE: Final = ("json_each", "json_tree")
_TABLES: Final = (*t.metadata.tables, *(name for view in VIEWS for name in (view.name, view.every) if name is not None))
_OLDER_VIEWS: Final = ("moves_flat", "conditions_flat")

_CUT: Final = {
    "rows": "there are more rows than these {rows:,}: ask for fewer, or raise the limit (--limit, at most {most:,})",
    "bytes": "the rows after these would make the answer larger than {bytes} MiB: ask for fewer rows or columns",
    "deadline": "cut off after {seconds:g} seconds: ask for less, or allow more time (--timeout)",
    "memory": "cut off, because it needs more than {memory} MiB of memory: ask for less, or allow more (--memory)",
    "disk": "cut off, because it needs more than {disk} MiB of disk: ask for less, or allow more (--disk)",
    "room": "cut off, because the disk has no room for temporary results in {directory}: make room, or name another "
    "directory (TMPDIR)",
    "copy": "cut off, because others write, and the disk has no room for a copy of the store in {directory}: make "
    "room, name another directory (TMPDIR), or ask again later",
    "length": "cut off, because it makes a text, or a statement, that is too large (a text: {length:,} bytes)",
}

# Who asks; what the server thinks of it decides whether it is held to a reader's rights.
_WHO: Final = text(
    "SELECT current_setting('is_superuser') = 'on' AS is_superuser, EXISTS "
    "(SELECT 1 FROM pg_roles WHERE rolname = :reader AND pg_has_role(rolname, 'MEMBER')) AS may_be_reader, "
    "EXISTS (SELECT 1 FROM pg_class WHERE oid = to_regclass('ruleset') AND pg_has_role(relowner, 'USAGE')) AS is_owner"
)
_MAY_HUSH: Final = text("SELECT has_parameter_privilege('log_min_messages', 'SET')")  # from Postgres 15
_READS: Final = text(
    "SELECT bool_and(has_table_privilege(:reader, name, 'SELECT')) FROM unnest(CAST(:names AS text[])) AS name"
)


@dataclass(frozen=True, slots=True)
class QueryEngine:
    """Another engine than the store's own: the module that asks it in the process, and what that is told.

    `functions` are those that a query may call there, `beside` the bytes that the process needs beside its memory.
    """

    module: str
    told: Mapping[str, Any]
    functions: Collection[str]
    threads: int
    beside: int


class QueryAnswer(NamedTuple):
    """Columns and rows; `cut` says why there are no more, None where these are all; `note` what else to tell."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: str | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class QueryAsker:
    """A database, and the processes that ask it; with `ahead` one is started for the next question, too."""

    database: Database
    processes: processes.Processes
    ahead: bool = False


def ask(
    asker: QueryAsker,
    query: str,
    values: Mapping[str, Any],
    bounds: SqlBounds,
    of_positions: Callable[[View], Given] | None = None,
    engine: QueryEngine | None = None,
) -> QueryAnswer:
    """The answer to a query, which is one statement that reads; `values` are those of its :names.

    It may ask the views of positions where something gives them. Another `engine` is asked instead of the database.
    Raises QueryError where it is wrong, would do more than read, or is out of bounds. Nobody who writes to a SQLite
    file waits for it: once somebody does, the query is asked anew, of a private copy.
    """
    database = asker.database
    read = statement.read(query)
    statement.require_values(read, values)
    for name, value in values.items():
        _require_value(name, value)
    asked: dict[str, Any] = {"seconds": bounds.timeout, "rows": bounds.rows, "bytes": MAX_BYTES, "connection": None}
    asked["path"] = [place for place in sys.path if place]
    asked |= {"memory": bounds.memory << 20, "disk": bounds.disk << 20}
    asked |= {"engine": None, "threads": 1, "beside": child.BESIDE}
    given: list[Given] = []
    if of_positions is not None:
        given = [of_positions(view) for view in POSITION_VIEWS if view.name in read.words]
    store, note = b"", None
    shifts: list[tuple[int, int]] = []
    if engine is not None:
        written, shifts, begin = read.numbered()
        asked |= {"query": written[begin:], "explains": begin > 0, "values": [values[name] for name in read.values]}
        asked |= {"given": [each.data() for each in given], "engine": engine.module, **engine.told}
        asked |= {"threads": engine.threads, "beside": engine.beside}
    elif isinstance(database, Postgres):
        more, note, shifts = _of_postgres(database, read, values, bounds, given)
        asked |= more
    elif isinstance(database, SQLite):
        note = _note_on_texts(read, values)
        tables = [*_TABLES, *_OLDER_VIEWS, *_IN_SQLITE]
        asked |= {"query": read.text, "values": dict(values), "tables": tables}
        asked |= {"given": [each.data() for each in given]}
        asked |= {"functions": sorted(allowed_functions.SQLITE), "instead": allowed_functions.INSTEAD}
        asked |= {"file": None, "uri": None, "copies": False}
        if database.path is None:
            store = database.serialized()
        else:
            file = database.path.absolute()
            asked |= {"file": str(file), "uri": f"{file.as_uri()}?mode=ro"}
    note = "; ".join(filter(None, (note, *(each.note for each in given)))) or None
    columns, rows, end, place = _run(asker, _About(database, read, shifts, engine), asked, store)
    if end is None:
        return QueryAnswer(_unique(columns), rows, None, note)
    said = _CUT[end].format(
        rows=bounds.rows,
        most=bounds.MAX_ROWS,
        bytes=MAX_BYTES >> 20,
        seconds=bounds.timeout,
        memory=bounds.memory,
        disk=bounds.disk,
        directory=printable(place.place),
        length=child.LENGTH,
    )
    if end in ("rows", "bytes"):
        return QueryAnswer(_unique(columns), rows, said, note)
    raise QueryError(said)


def _note_on_texts(query: QueryStatement, values: Mapping[str, Any]) -> str | None:
    """That texts which look like numbers are none: servers and DuckDB take them for what they are compared with."""
    given = {name: values[name] for name in query.values if name in query.compared}
    texts = [name for name, value in given.items() if isinstance(value, str) and _NUMBER.fullmatch(value)]
    if not texts:
        return None
    return (
        f":{texts[0]} is a text: beside most numbers of the views, and all that are computed, SQLite finds it larger "
        f"and never equal; for a number write CAST(:{texts[0]} AS integer)"
    )


def _require_value(name: str, value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise QueryError(f"the value :{name} is not a finite number")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise QueryError(f"the value :{name} is a number beyond 64 bits")
    if not isinstance(value, str | int | float | bool | None):
        raise QueryError(f"the value :{name} is a text, a number, a truth value or None; found {quote(value)}")


def _of_postgres(
    database: Postgres, query: QueryStatement, values: Mapping[str, Any], bounds: SqlBounds, given: Sequence[Given]
) -> tuple[dict[str, Any], str | None, list[tuple[int, int]]]:
    """What the process is told of a Postgres database, and what whoever asks is."""
    with database.reading() as connection:
        who = connection.execute(_WHO, {"reader": READER}).one()
        reads = {"reader": READER, "names": [view.name for view in VIEWS]}
        is_reader = who.may_be_reader and bool(connection.execute(_READS, reads).scalar())
        can_grant = (connection.dialect.server_version_info or (0,)) >= (15,)
        may_hush = who.is_superuser or (can_grant and connection.execute(_MAY_HUSH).scalar())
    milliseconds = max(1, round(bounds.timeout * 1000))
    settings = [
        # Committed reads: see `resolved`. The query itself is one statement, which sees one moment.
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
        *(f"SET LOCAL {setting}" for setting in SESSION),
        f"SET LOCAL statement_timeout = {milliseconds}",
        f"SET LOCAL lock_timeout = {milliseconds}",
        f"SET LOCAL idle_in_transaction_session_timeout = {milliseconds + 1000 * processes.GRACE}",
        "SET LOCAL standard_conforming_strings = on",
        "SET LOCAL max_parallel_workers_per_gather = 0",
        "SET LOCAL constraint_exclusion = off",  # else planning evaluates what constraints say
    ]
    role = [f'SET LOCAL ROLE "{READER}"'] if is_reader else []
    after: list[str] = []
    if who.is_superuser:
        settings.append(f"SET LOCAL temp_file_limit = '{bounds.disk}MB'")
    if may_hush:  # then what the server prints for us stays out of its log
        settings.append("SET LOCAL log_min_messages = panic")
        after = ["SET LOCAL ROLE NONE", "SET LOCAL log_min_messages TO DEFAULT", *role]
    note = None
    if who.is_superuser or who.is_owner:
        who_asks = "a superuser" if who.is_superuser else "the owner of the tables"
        note = (
            f"you are connected as {who_asks}: the same is refused as to everybody else, "
            f"but a login that is only in {READER} has no other rights"
        )
    relations, rows = as_relations(given, len(query.values) + 1)
    written, shifts, begin = query.numbered(relations)
    _, arguments = database.engine.dialect.create_connect_args(database.url)
    asked = {
        "connection": {name: value for name, value in arguments.items() if isinstance(value, str | int)},
        "settings": settings + role,
        "after": after,
        "explain": written[:begin],
        "query": written[begin:],
        "words": [token.text if token.kind == "name" else token.word for token in query.tokens if token.word],
        "values": [*(values[name] for name in query.values), *rows],
        "allowed": [
            sorted(allowed_functions.POSTGRES),
            sorted(allowed_functions.POSTGRES_TYPES),
            [*_TABLES, *_OLDER_VIEWS],
        ],
    }
    return asked, note, shifts


# --- the process ---


@dataclass(frozen=True, slots=True)
class _About:
    """What is asked, for what is said of it."""

    database: Database
    query: QueryStatement
    shifts: list[tuple[int, int]]
    engine: QueryEngine | None

    @property
    def functions(self) -> Collection[str]:
        """The functions that a query may call."""
        if self.engine is not None:
            return self.engine.functions
        return allowed_functions.POSTGRES if self.database.is_server else allowed_functions.SQLITE


def _run(
    asker: QueryAsker, about: _About, asked: dict[str, Any], store: bytes
) -> tuple[list[str], tuple[tuple[Any, ...], ...], str | None, Spill]:
    """Columns, rows, and why there are no more; and where what was temporary was."""
    end = time.monotonic() + asked["seconds"]
    while True:
        with asker.processes.told(asked, store, ahead=asker.ahead) as process:
            found = _read(about, process.popen, end + processes.GRACE)
        asked |= {"copies": True, "seconds": end - time.monotonic()}
        if found is None and asked["seconds"] <= 0:
            found = [], (), "deadline"
        if found is not None:
            return *found, process.place


def _read(
    about: _About, process: subprocess.Popen[bytes], late: float
) -> tuple[list[str], tuple[tuple[Any, ...], ...], str | None] | None:
    """Columns, rows, and why there are no more; None where the process gave way to a writer."""
    columns: list[str] = []
    rows: list[tuple[Any, ...]] = []
    out: Any = process.stdout
    complaints: Any = process.stderr
    for line in out:
        if not line.endswith(b"\n"):  # it was killed as it said this
            break
        said = json.loads(line)
        if "rows" in said:
            rows += [tuple(map(_value, row)) for row in said["rows"]]
        elif "columns" in said:
            columns = said["columns"]
        elif "wrong" in said:
            _explain(about, said["wrong"])
        else:
            return columns, tuple(rows), said["end"]
    complaint = complaints.read(2000).decode("utf-8", "replace").strip()
    code = process.wait()
    if code == child.GIVES_WAY:
        return None
    if code < 0 and time.monotonic() >= late:
        return [], (), "deadline"
    if not complaint or "MemoryError" in complaint or "memory" in complaint:
        return [], (), "memory"
    said = about.database.without_password(complaint.splitlines()[-1])
    raise StoreError(f"{about.database}: the process that asks has failed: {printable(said)}")


def _value(value: Any) -> Any:
    return bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value


def _unique(columns: list[str]) -> tuple[str, ...]:
    """The names of columns, each only once: a second `piece` is `piece_2`."""
    found: list[str] = []
    for name in columns:
        number, unique = 2, name
        while unique in found:
            unique = f"{name}_{number}"
            number += 1
        found.append(unique)
    return tuple(found)


# --- what is wrong ---


def _explain(about: _About, wrong: dict[str, Any]) -> NoReturn:
    database, query, shifts = about.database, about.query, about.shifts
    kind, message, position, name = (wrong[key] for key in ("kind", "message", "position", "name"))
    if kind == "store":
        raise StoreError(f"{database}: {printable(database.without_password(message))}")
    if position is not None:
        before = 0
        for at, longer in shifts:
            before += longer if position >= at + before + longer else 0
        position -= before
    if name is None and position is not None and kind in ("table", "column", "function"):
        name = _name_at(query, position)
    if name is not None and position is None:
        position = _where(query, name)
    begin = "" if position is None else f"{place(query.text, position)}: "
    end = "" if name is None else _near(query, kind, name, about.functions)
    if kind == "refused":
        message = f"{message}: `sql` only reads"
    elif kind == "value":
        message = VALUES
    elif kind == "syntax" and any(token.key == "?" for token in query.tokens):
        end = f"; {VALUES}"
    raise QueryError(f"{begin}{printable(message)}{end}")


def _name_at(query: QueryStatement, position: int) -> str | None:
    """The name that begins there, without what qualifies it."""
    at = next((number for number, token in enumerate(query.tokens) if token.start == position), None)
    if at is None:
        return None
    while at + 2 < len(query.tokens) and query.tokens[at + 1].key == ".":
        at += 2
    return query.tokens[at].word or None


def _where(query: QueryStatement, name: str) -> int | None:
    """Where a name, perhaps with the table's before it, is in the query."""
    last = name.rpartition(".")[2].lower()
    return next((token.start for token in query.tokens if token.word.lower() == last), None)


def _near(query: QueryStatement, kind: str, name: str, functions: Collection[str]) -> str:
    """The names that there are and that may have been meant."""
    last = name.rpartition(".")[2]
    if kind == "table" and last in (view.name for view in POSITION_VIEWS):
        return "; it is a view of positions: name the ruleset that they are of (--ruleset)"
    if kind == "table" and last in _TABLES:
        return "; it is a table of the store, which has to be asked itself: the columnar copy has the views only"
    if kind == "table":
        known = sorted([*_TABLES, *(view.name for view in POSITION_VIEWS)])
    elif kind in ("function", "call"):
        known = sorted(set(functions) - {last})
    else:
        known = sorted(_columns(query))
    near = difflib.get_close_matches(last, known, 3, 0.5)
    if near:
        return f"; near it: {', '.join(near)}"
    if kind == "call":
        return ""
    return f"; there are {offer([view.name for view in VIEWS])}" if kind == "table" else f"; there are {offer(known)}"


def _columns(query: QueryStatement) -> set[str]:
    """The columns of what the query names; of all views where it names none."""
    named = query.words
    of_views = {view: {view.name, view.every} for view in (*VIEWS, *POSITION_VIEWS)}
    found = {name for view, names in of_views.items() if named & names for name in view.names}
    found |= {column.name for table in t.metadata.tables.values() if table.name in named for column in table.columns}
    return found or {name for view in VIEWS for name in view.names}
