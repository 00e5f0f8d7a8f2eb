"""DuckDB over the columnar copy of a store, in the process that asks a question in SQL (see `store.sql.child`).

A query is read by DuckDB's own parser before anything runs, and refused unless it is one SELECT of the views and of
functions that are listed. Files other than those of the copy, extensions and settings are out of reach as well.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Generator, Iterator, Mapping
from typing import Any, Final

from ggn_store.store.sql.child import Cut, Row, Watch, Wrong, plain

_TYPES: Final = {"text": "VARCHAR", "integer": "BIGINT"}
# Bytes of memory that DuckDB does not count as its own, and the least that it gets.
_UNCOUNTED, _LEAST = 48 << 20, 16 << 20
_REFERENCES: Final = ("BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "EMPTY", "EMPTY_FROM")
_WORD: Final = re.compile(r"\w+")
_NAMED: Final = {
    "table": re.compile(r"Table with name (\S+) does not exist"),
    "function": re.compile(r"Function with name (\S+) does not exist"),
    "column": re.compile(r'Referenced column "([^"]+)"|does not have a column named "([^"]+)"'),
}


def ask(asked: dict[str, Any], watch: Watch) -> Generator[Row, None, None]:
    """The names of the columns, then the rows."""
    try:  # the engine itself, which is there in a fifth of the time of all that is built upon it
        import _duckdb as duckdb
    except ImportError:
        import duckdb  # type: ignore[no-redef]

    try:
        connection = _opened(duckdb, asked)
    except duckdb.Error as error:
        raise Wrong("store", _first(error)) from None
    watch.until = time.monotonic() + asked["seconds"]
    try:
        _require_reading(connection, asked)
        cursor = connection.execute(("EXPLAIN " if asked["explains"] else "") + asked["query"], asked["values"])
        yield [column[0] for column in cursor.description]
        while rows := cursor.fetchmany(1000):
            yield from ([plain(value) for value in row] for row in rows)
    except MemoryError:
        raise Cut("memory") from None
    except duckdb.OutOfMemoryException as error:
        raise Cut("disk" if asked["disk"] and "temp_directory" in str(error) else "memory") from None
    except duckdb.Error as error:
        raise _explained(error) from None


def _opened(duckdb: Any, asked: dict[str, Any]) -> Any:
    """A database in memory with the views, which nothing but these can be asked of."""
    has_disk = asked["disk"] > 0 and asked["directory"] is not None
    config = {
        "memory_limit": f"{max(asked['memory'] - _UNCOUNTED, _LEAST)}B",
        "threads": asked["threads"],
        "temp_directory": asked["directory"] if has_disk else "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "preserve_insertion_order": False,
        # As the store's own database has it.
        "default_null_order": asked["nulls"],
        "integer_division": True,
    }
    if has_disk:
        config["max_temp_directory_size"] = f"{asked['disk']}B"
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_progress_bar = false")  # which goes to standard output, as answers do
    wanted = _wanted(asked["query"], asked["views"])
    for name, query in asked["views"].items():
        if name in wanted:
            connection.execute(f"CREATE VIEW {name} AS {query}")
    for each in asked["given"]:
        _make(connection, each)
    connection.execute("SET allowed_paths = $1", [asked["files"]])
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _wanted(query: str, views: Mapping[str, str]) -> set[str]:
    """The views that a query names, or that such a view is made of: to make one takes a look at its files."""
    found: set[str] = set()
    waiting = [query]
    while waiting:
        new = views.keys() & set(_WORD.findall(waiting.pop().lower())) - found
        found |= new
        waiting += [views[name] for name in new]
    return found


def _make(connection: Any, given: Mapping[str, Any]) -> None:
    """Make a table of what is given with a question."""
    columns = ", ".join(f'"{name}" {_TYPES[kind]}' for name, kind in given["columns"])
    lists = ", ".join(f"unnest(${at}::{_TYPES[kind]}[])" for at, (_, kind) in enumerate(given["columns"], 1))
    connection.execute(f'CREATE TABLE "{given["name"]}" ({columns})')
    if given["rows"]:
        values = [[row[at] for row in given["rows"]] for at in range(len(given["columns"]))]
        connection.execute(f'INSERT INTO "{given["name"]}" SELECT {lists}', values)


# --- what a query does ---


def _require_reading(connection: Any, asked: dict[str, Any]) -> None:
    """Raise Wrong unless a query is one SELECT of what may be asked."""
    said = json.loads(connection.execute("SELECT json_serialize_sql($1)", [asked["query"]]).fetchone()[0])
    if said["error"]:
        if said.get("error_type") == "parser":
            at = said.get("position")
            raise Wrong("syntax", said["error_message"], None if at is None else int(at))
        raise Wrong("refused", "this is no SELECT")
    if len(said["statements"]) != 1:
        raise Wrong("refused", "this is more than one statement")
    nodes = list(_nodes(said["statements"]))
    own = {each["key"].lower() for node in nodes if "cte_map" in node for each in node["cte_map"]["map"]}
    views = "SELECT lower(view_name) FROM duckdb_views() UNION SELECT lower(table_name) FROM duckdb_tables()"
    there = {name for (name,) in connection.execute(views).fetchall()} | asked["views"].keys()
    allowed = {*asked["askable"], *(each["name"] for each in asked["given"])}
    functions, operators = frozenset(asked["functions"]), frozenset(asked["operators"])
    for node in nodes:
        _require_function(node, operators if node.get("is_operator") else functions)
        if "alias" in node and "sample" in node and node.get("type") not in _REFERENCES:
            raise Wrong("refused", f"{node.get('type')} is not what a query may read from")
        if node.get("type") == "BASE_TABLE":
            _require_relation(node, allowed, own, there)


def _require_function(node: Mapping[str, Any], known: Collection[str]) -> None:
    name = node.get("function_name")
    if name is None:
        return
    qualified = any(node.get(each) for each in ("schema", "catalog"))
    if qualified or str(name).lower() not in known:
        raise Wrong("call", f"the function {name} is not among those that a query may call", None, str(name))


def _require_relation(node: Mapping[str, Any], allowed: set[str], own: set[str], there: set[str]) -> None:
    parts = [node.get("catalog_name"), node.get("schema_name"), node.get("table_name")]
    name = ".".join(part for part in parts if part)
    if name.lower() in allowed or (name.lower() in own and name.lower() not in there):
        return
    if name.lower() in there or "." in name:
        raise Wrong("refused", f"{name} is not a view that a query may ask of DuckDB")
    raise Wrong("table", f"no such table: {name}", None, name)


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """All objects in a tree."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


# --- what is wrong ---


def _explained(error: Any) -> Exception:
    message = _first(error)
    if "bad_alloc" in message or "bad allocation" in message:
        return Cut("memory")
    for kind, pattern in _NAMED.items():
        if match := pattern.search(message):
            return Wrong(kind, message, None, next(filter(None, match.groups())))
    return Wrong("refused" if type(error).__name__ == "PermissionException" else "syntax", message)


def _first(error: Any) -> str:
    first, *_ = str(error).splitlines() or [type(error).__name__]
    return str(first)
