"""The prompt of `ggn-store sql`: history, completion, queries of several lines.

Of the standard library, where Python has readline; without it (on Windows) lines are read as they come.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

import ggn_store
from ggn_store.api.questions.sql import POSITION_VIEWS, SQL_EXAMPLES, SQL_TABLES, VIEWS
from ggn_store.cli import printing, process
from ggn_store.cli.printing import terminal_width as width
from ggn_store.errors import GgnStoreError, did_you_mean, printable
from ggn_store.render.records import table

_WELCOME = "Queries end with ;  Also: .tables or \\d, .schema or \\d NAME, .help, and exit, quit or \\q to leave"
_HELP = """\
.tables, \\d            the views and tables
.schema, \\d NAME       every column of the views; the columns of one view or table
.examples, \\e          example queries
exit, quit, \\q         leave (or Ctrl-D); Ctrl-C forgets what is being typed
A query ends with ;"""
_LEAVE = ("exit", "quit", ".exit", ".quit", "\\q")
_KNOWN = (".tables", ".schema", ".examples", ".help", *_LEAVE)
_KEPT = 1000
_VIEWS = (*VIEWS, *POSITION_VIEWS)
_KEYWORDS = """
AND AS ASC BETWEEN BY CASE COUNT DESC DISTINCT ELSE END EXCEPT EXISTS EXPLAIN FROM GROUP HAVING IN INTERSECT IS
JOIN LEFT LIKE LIMIT NOT NULL ON OR ORDER RECURSIVE SELECT THEN UNION USING VALUES WHEN WHERE WITH
"""


def run(store: ggn_store.Store, answer: Callable[[str], None]) -> None:
    """Read queries and commands, and answer them until there are no more."""
    click.echo(_WELCOME, err=True)
    with _editing() as keep:
        while (text := _read()) is not None:
            keep(text)
            try:
                if _is_command(text):
                    _obey(store, text)
                else:
                    answer(text)
            except GgnStoreError as error:
                printing.say_error(str(error))
            except KeyboardInterrupt:
                if not process.goes_on():
                    raise
                click.echo("interrupted", err=True)


def _read() -> str | None:
    """A query, or a command on a line of its own; None at the end."""
    lines: list[str] = []
    while True:
        try:
            line = input("ggn> " if not lines else "...> ")
        except EOFError:
            click.echo(err=True)
            return None
        except KeyboardInterrupt:
            if not process.goes_on():
                raise
            click.echo(err=True)
            lines = []
            continue
        typed = line.strip().rstrip(";").rstrip()
        # Within a query too: alone on a line, these words are no SQL.
        if (typed if not lines else line.strip()).lower() in _LEAVE:
            return None
        if not lines and _is_command(typed):
            return typed
        if line.strip():
            lines.append(line)
        if sqlite3.complete_statement("\n".join(lines)):
            return "\n".join(lines)


def _is_command(line: str) -> bool:
    return line.startswith((".", "\\")) or line.lower() == "help"


def _obey(store: ggn_store.Store, line: str) -> None:
    word, _, name = line.partition(" ")
    name = name.strip()
    match word.lower():
        case ".schema" | "\\d" if name:
            _describe(store, name)
        case ".tables" | "\\d":
            views = [(view.name, f"a row is {view.row}") for view in _VIEWS]
            click.echo(table(("name", "what it holds"), [*views, *SQL_TABLES.items()], width()), nl=False)
        case ".schema":
            click.echo("\n".join(schema_lines()))
        case ".examples" | "\\e":
            click.echo("\n".join(example_lines()))
        case ".help" | "help" | "\\?" | "\\h":
            click.echo(_HELP, err=True)
        case _:
            hint = did_you_mean(word, _KNOWN) or f"; there are\n{_HELP}"
            click.echo(f"there is no command {printable(word)}{hint}", err=True)


def schema_lines() -> Iterator[str]:
    """The views, column by column, and the tables."""
    for view in _VIEWS:
        every = "" if view.every is None else f"; {view.every}: of every revision"
        every = "; with --ruleset" if view in POSITION_VIEWS else every
        yield f"{view.name}: a row is {view.row}{every}"
        width = max(map(len, view.names))
        for column in view.columns:
            yield f"  {column.name.ljust(width)}  {column.type.ljust(7)}  {column.meaning}"
        yield ""
    yield "The tables that these are made of; \\d NAME at the prompt lists the columns of one"
    width = max(map(len, SQL_TABLES))
    for name, meaning in SQL_TABLES.items():
        yield f"  {name.ljust(width)}  {meaning}"


def example_lines() -> Iterator[str]:
    """Useful queries, each below the question that it answers."""
    for example in SQL_EXAMPLES:
        yield f"-- {example.question}\n{example.query};\n"


def _describe(store: ggn_store.Store, name: str) -> None:
    views = {each: view for view in _VIEWS for each in (view.name, view.every) if each is not None}
    if name in views:
        rows = [(column.name, column.type, column.meaning) for column in views[name].columns]
        click.echo(table(("column", "type", "meaning"), rows, width()), nl=False)
    elif name in SQL_TABLES:
        columns = store.sql(f"SELECT * FROM {name} LIMIT 0").columns  # noqa: S608  (one of our own names)
        click.echo(f"{SQL_TABLES[name]}\n{', '.join(columns)}")
    else:
        hint = did_you_mean(name, [*views, *SQL_TABLES]) or ": .tables lists them"
        click.echo(f"there is no view or table {printable(name)}{hint}", err=True)


@contextlib.contextmanager
def _editing() -> Iterator[Callable[[str], None]]:
    """Line editing, with the history of earlier prompts, which is kept in the user's directory of states."""
    try:
        import readline
    except ImportError:
        yield lambda text: None
        return
    import platformdirs

    file = Path(platformdirs.user_state_dir("ggn-store", appauthor=False)) / "sql_history"
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        readline.read_history_file(file)
    readline.set_auto_history(False)
    readline.set_history_length(_KEPT)
    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n,;()=<>.+-*/'\"")
    readline.parse_and_bind("tab: complete")

    def keep(text: str) -> None:
        # On one line, a comment would take the rest of the query with it.
        readline.add_history(text if "--" in text else " ".join(text.split("\n")))

    try:
        yield keep
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            readline.write_history_file(file)
            file.chmod(0o600)


def complete(begun: str, number: int) -> Any:
    """The `number`th word that what is typed may become; None where there are no more."""
    names = [name for view in _VIEWS for name in (view.name, view.every, *view.names) if name is not None]
    words = [*names, *SQL_TABLES, *(_KEYWORDS if begun.isupper() else _KEYWORDS.lower()).split()]
    found = sorted({word for word in words if begun and word.startswith(begun)})
    return found[number] if number < len(found) else None
