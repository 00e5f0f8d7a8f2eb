"""`ggn-store sql`"""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from itertools import islice
from typing import Any, Final

import click

import ggn_store
from ggn_store.api.questions.sql import POSITION_VIEWS, VIEWS
from ggn_store.cli import options, printing, sql_prompt, stores
from ggn_store.cli.progress import progress
from ggn_store.errors import printable
from ggn_store.model.bounds import SqlBounds
from ggn_store.render.records import records

_FORMATS = ("table", "json", "ndjson", "csv", "parquet")
_WATCHED = 200
_USUAL: Final = SqlBounds()
# What no option begins with: a space behind the dashes, or more than a line before a value.
_COMMENT: Final = re.compile(r"--(\s|[^=]*\n)")


class _Command(options.StrictCommand):
    """A command whose help ends with the views and their columns, and whose query may begin with a comment."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {each}" if _COMMENT.match(each) else each for each in args])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Views"):
            formatter.write_text(
                "Each shows the newest revision of every ruleset; with _all behind its name, all revisions. The last "
                f"{len(POSITION_VIEWS)} are of the positions that --ruleset gives."
            )
        for view in (*VIEWS, *POSITION_VIEWS):
            with formatter.section(f"{view.name}: a row is {view.row}"):
                formatter.write_dl([(each.name, f"{each.type}: {each.meaning}") for each in view.columns], col_max=16)


def _values(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, mark, value = each.partition("=")
        if not mark or not name.isidentifier():
            raise click.BadParameter(f"{printable(each)!r}: write it as name=value, for a value :name of the query")
        if name in found:
            raise click.BadParameter(f"{name} is given twice")
        found[name] = value
    return found


@options.command("sql", cls=_Command)
@click.argument("query", metavar="[QUERY|@FILE|-]", required=False)
@click.option(
    "--param",
    "values",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_values,
    help="A value for :NAME in the query, as a text; may be repeated.",
)
@click.option(
    "--ruleset",
    metavar="RULESET",
    shell_complete=options.complete_ruleset,
    help="The ruleset of the views of positions. Without a position, they are of its own start position.",
)
@options.position_options
@options.positions_option
@options.output_format(_FORMATS, "Default: a table on a terminal, NDJSON elsewhere. Parquet needs -o.")
@options.output_option
@click.option(
    "--limit",
    type=options.IntRange(1, _USUAL.MAX_ROWS),
    metavar="ROWS",
    help=f"Stop after so many rows. Default: {_WATCHED} in a table on a terminal, else the most, 1,000,000.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, _USUAL.MAX_SECONDS, min_open=True),
    default=_USUAL.timeout,
    show_default=True,
    metavar="SECONDS",
    help="Cut the query off after so long.",
)
@click.option(
    "--memory",
    type=options.IntRange(_USUAL.MIN_MEMORY, _USUAL.MAX_MEMORY),
    default=_USUAL.memory,
    show_default=True,
    metavar="MIB",
    help="Cut the query off where it needs more memory; on Postgres, the client.",
)
@click.option(
    "--disk",
    type=options.IntRange(0, _USUAL.MAX_DISK),
    default=_USUAL.disk,
    show_default=True,
    metavar="MIB",
    help="Cut the query off where temporary results need more disk; with 0, SQLite keeps them in memory.",
)
@click.option(
    "--engine",
    type=options.OneOf(("store", "duckdb")),
    default="store",
    show_default=True,
    help="Ask the store itself, or DuckDB, of a columnar copy that is kept beside the store.",
)
@click.option("--schema", is_flag=True, help="Show the views, column by column, and the tables.")
@click.option("--examples", is_flag=True, help="Show useful queries.")
def sql(  # noqa: PLR0913  (its options)
    query: str | None,
    values: dict[str, str],
    ruleset: str | None,
    positions: str | None,
    form: str | None,
    output: str | None,
    schema: bool,
    examples: bool,
    given: options.GivenPosition,
    **bounds: Any,
) -> None:
    """Query the store with your own SQL.

    QUERY is one SELECT (or WITH, VALUES, EXPLAIN) on the views below, or on their tables; without it, a terminal gets
    a prompt, and elsewhere it is read from standard input. A query cannot change anything and blocks nobody; it is cut
    off if it needs too much time, memory or disk. The views are the same in SQLite and Postgres. With --ruleset, a
    query can also ask which moves a position allows, and which of them are legal.

    --engine duckdb is for questions to the whole library: it asks the views, not the tables, and answers in seconds.
    The first time it makes the copy, which takes as long as an export. It needs pip install 'ggn-store[duckdb]'.
    """
    if schema or examples:
        if query is not None:
            raise click.UsageError("--schema and --examples take no query")
        for part in [*(sql_prompt.schema_lines() if schema else ()), *(sql_prompt.example_lines() if examples else ())]:
            click.echo(part)
        return
    if form == "parquet" and output in (None, "-"):
        raise click.UsageError("--format parquet needs a file: -o FILE")
    options.refuse(
        (
            ruleset is None and (given.names or given.side or positions is not None),
            "a position is one of a ruleset: name it with --ruleset",
        ),
        (
            positions is not None and given.names,
            f"--positions brings its own positions: leave {' and '.join(given.names)} out",
        ),
        (
            query in (None, "-") and "-" in (given.board, given.hands, positions),
            "a position comes from standard input: give the query as an argument or @FILE",
        ),
    )
    store = stores.open_store()
    asked = bounds | _positions(store, ruleset, positions, given)
    if query is None and printing.is_terminal(sys.stdin):
        if output is not None:
            raise click.UsageError("-o needs a query")
        sql_prompt.run(store, lambda text: _answer(store, text, values, form, output, asked))
        return
    _answer(store, _text("-" if query is None else query), values, form, output, asked)


def _positions(
    store: ggn_store.Store, ruleset: str | None, file: str | None, given: options.GivenPosition
) -> dict[str, Any]:
    """What is asked beside the store: a ruleset, and positions of it."""
    if ruleset is None:
        return {}
    found = stores.find_ruleset(store, ruleset)
    if file is None:
        return {"ruleset": found, "positions": [options.position(found, given)]}
    from ggn_store.api.moves.position_views import MOST
    from ggn_store.api.positions.json_text import read_positions

    most = islice(read_positions(file, found.handle), MOST + 1)
    return {"ruleset": found, "positions": [each.with_changes(side=given.side) for each in most]}


def _text(query: str) -> str:
    given = options.text(query)
    try:
        return given if isinstance(given, str) else given.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ggn_store.InputError(f"the query is not UTF-8: byte {error.start + 1}") from None


def _answer(
    store: ggn_store.Store,
    query: str,
    values: dict[str, str],
    form: str | None,
    output: str | None,
    asked: dict[str, Any],
) -> None:
    form = form or ("table" if output is None and printing.is_terminal(sys.stdout) else "ndjson")
    watched = form == "table" and output is None and printing.is_terminal(sys.stdout)
    if watched and asked["limit"] is None:
        asked = {**asked, "limit": _WATCHED}
    with progress("copying") if asked["engine"] == "duckdb" else nullcontext() as reporter:
        found = store.sql(query, values, progress=None if reporter is None else reporter.set, **asked)
    if form == "parquet":
        found.write_parquet(str(output))
    else:
        width = printing.terminal_width() if watched else None
        printing.write(records(found.data(), form, found.columns, width), output)
    for said in filter(None, (found.cut, found.note)):
        printing.report_note(said)
