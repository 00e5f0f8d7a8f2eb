"""`/sql`: queries of one's own on the views, each in a process of its own, within the bounds of the command `sql`."""

from __future__ import annotations

import importlib.util
import re
from typing import Any, Final

from ggn_store.api.questions.sql import POSITION_VIEWS, SQL_EXAMPLES, SQL_TABLES, VIEWS
from ggn_store.errors import GgnStoreError, QueryError, quote
from ggn_store.render.plot import plot
from ggn_store.render.records import records
from ggn_store.web import links, narrowing
from ggn_store.web.boards import read_position
from ggn_store.web.page import POSITION, Answer, Asked, Page, Parameter, limit
from ggn_store.web.refusal import for_visitors

_FORMATS: Final = ("table", "csv", "json", "ndjson", "parquet")
# An option of the command `sql` in a message, and those that are parameters here, with what is allowed.
_OPTION: Final = re.compile(r" \(--([a-z]+)[^)]*\)")
_MOST: Final = {"limit": 20_000, "timeout": 30}
_ENGINES: Final = ("store", "duckdb")
_MEDIA: Final = {
    "csv": "text/csv",
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
# As files that browsers keep; the others they show.
_KEPT: Final = ("csv", "parquet")
_COLUMNS: Final = 30  # whose values a page offers to count
_FACETS: Final = 3  # of them at once, each a query


def _show(asked: Asked) -> Answer:
    query, form = asked.text("query"), asked.text("format") or "table"
    has_columns = asked.site.store.has_columns
    data: dict[str, Any] = {"query": query, "columns": [], "rows": [], "cut": None, "note": None, "facets": {}}
    shown: dict[str, Any] = {
        "views": (*VIEWS, *POSITION_VIEWS),
        "tables": SQL_TABLES,
        "examples": [
            (
                for_visitors(each.question),
                links.to("/sql", query=each.query, param=each.values, engine="duckdb" if has_columns else None),
            )
            for each in SQL_EXAMPLES
        ],
        "has_columns": has_columns,
        "error": None,
        "formats": {},
        "svg": None,
        "columns_to_count": [],
        "narrowed": [],
    }
    if query is None:
        return Answer(data, shown)
    try:
        narrowed, values = narrowing.narrowed(query, [*map(narrowing.read, asked.texts("only"))])
        values |= _values(asked)
        found = _asked(asked, narrowed, values)
        facets = {each: _counted(asked, narrowed, values, each) for each in asked.texts("facet")}
    except GgnStoreError as error:
        if form != "table":
            raise
        message = for_visitors(_said(asked.site.clean(str(error))))
        status = 400 if isinstance(error, QueryError) else getattr(error, "status", 400)
        return Answer(data | {"error": message, "status": status}, shown | {"error": message}, status=status)
    if form != "table":
        text = found.parquet() if form == "parquet" else "".join(records(found.data(), form, found.columns))
        return Answer(text=text, media=_MEDIA[form], file=f"answer.{form}" if form in _KEPT else None)
    rows = [[value.hex() if isinstance(value, bytes) else value for value in row] for row in found.rows]
    data |= {
        "columns": [*found.columns],
        "rows": rows,
        "cut": found.cut and _said(found.cut),
        "note": found.note,
        "facets": {name: [{"value": value, "count": count} for value, count in of] for name, of in facets.items()},
    }
    only, counted = asked.texts("only"), asked.texts("facet")
    names = [name for name in found.columns[:_COLUMNS] if name not in facets]
    shown |= {
        "formats": {form: _to(asked, facet=(), format=form) for form in _offered()},
        "svg": plot(found.columns, found.rows),
        "narrowed": [
            (*narrowing.read(each), _to(asked, only=tuple(other for other in only if other != each))) for each in only
        ],
        "columns_to_count": [(name, _to(asked, facet=(*counted, name)[-_FACETS:])) for name in names],
        "counted": {
            name: [(value, count, _to_rows(asked, name, value)) for value, count in of] for name, of in facets.items()
        },
    }
    return Answer(data, shown)


def _to(asked: Asked, **changed: links.Value) -> str:
    """The address of the same answer, but for some parameters."""
    names = ("query", "ruleset", "position", "limit", "timeout", "engine", "param", "facet", "only")
    return links.to("/sql", **{**{name: asked.values[name] for name in names}, **changed})


def _to_rows(asked: Asked, column: str, value: Any) -> str | None:
    """The address of the rows with this value; None where no address can say it."""
    text = narrowing.written(column, value)
    return None if text is None else _to(asked, only=tuple(dict.fromkeys((*asked.texts("only"), text))))


def _counted(asked: Asked, query: str, values: dict[str, Any], column: str) -> list[tuple[Any, int]]:
    rows = _asked(asked, narrowing.counting(query, column), values).rows
    return [(value.hex() if isinstance(value, bytes) else value, count) for value, count in rows]


def _said(message: str) -> str:
    """A message of the command `sql`, with the parameters of this page for its options."""
    return _OPTION.sub(
        lambda found: f" ({found[1]}, at most {_MOST[found[1]]:,})" if found[1] in _MOST else "", message
    )


def _offered() -> tuple[str, ...]:
    """The other formats that this installation can write."""
    return _FORMATS[1:] if importlib.util.find_spec("pyarrow") else _FORMATS[1:-1]


def _values(asked: Asked) -> dict[str, str]:
    """The values of the `:names` in the query."""
    found: dict[str, str] = {}
    for each in asked.texts("param"):
        name, mark, value = each.partition("=")
        if not mark or not name.isidentifier():
            raise QueryError(f"{quote(each)}: write it as name=value, for a value :name of the query")
        if name in found:
            raise QueryError(f"{quote(name)} is given twice")
        found[name] = value
    return found


def _asked(asked: Asked, query: str, values: dict[str, Any]) -> Any:
    """The answer of the store to a query."""
    reference, text = asked.text("ruleset"), asked.text("position")
    if text is not None and reference is None:
        raise QueryError("a position is one of a ruleset: name it, too")
    more: dict[str, Any] = {}
    if asked.text("engine") == "duckdb":
        if not asked.site.store.has_columns:
            raise QueryError(
                "no columnar copy of this store is kept: who runs the server makes one by "
                "`ggn-store sql --engine duckdb 'SELECT 1'`"
            )
        more["engine"] = "duckdb"
    if reference is not None:
        more["ruleset"] = ruleset = asked.site.ruleset(reference)
        if text is not None:
            more["positions"] = [read_position(ruleset, text)]
    return asked.site.store.sql(
        query, values, **more, ahead=True, limit=asked.number("limit"), timeout=float(asked.number("timeout"))
    )


PAGE = Page(
    "sql",
    "/sql",
    "A query of your own, one SELECT on the views, as a table, CSV, JSON or Parquet. Nothing but reading is allowed.",
    _show,
    "sql.html",
    (
        Parameter("query", "the query", most=8_000),
        Parameter("ruleset", "the ruleset of the views of positions", most=400),
        POSITION,
        Parameter("param", "NAME=VALUE, a value for :NAME in the query, as a text; repeatable", several=20),
        Parameter("facet", "count the values of this column of the answer; repeatable", several=_FACETS),
        Parameter(
            "only",
            'only rows with this value, as JSON: ["column", value]; repeatable',
            most=narrowing.MOST_TEXT,
            several=10,
        ),
        Parameter("format", "how the answer is written", choices=_FORMATS),
        Parameter("engine", "what is asked: the store, or its columnar copy where one is kept", choices=_ENGINES),
        limit(200, _MOST["limit"]),
        Parameter("timeout", "seconds after which the query is cut off", "number", "5", 1, _MOST["timeout"]),
    ),
    long=("query",),
    also=tuple(media for media in _MEDIA.values() if media != "application/json"),
)
