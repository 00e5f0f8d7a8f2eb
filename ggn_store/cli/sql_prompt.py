"""The prompt of `ggn-store sql`: history, completion, queries of several lines.

Of the standard library, where Python has readline; without it (on Windows) lines are read as they come.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from ggn_store.api.sql import SQL_EXAMPLES, SQL_TABLES, VIEWS
from ggn_store.cli import process
from ggn_store.cli.sql import describe, tell
from ggn_store.errors import GgnStoreError

_HELP = """\\d       the views; \\d v_moves: its columns
\\e       example queries
\\q       leave (or Ctrl-D); Ctrl-C forgets what is being typed
A query ends with ;"""
_KEPT = 1000
_KEYWORDS = """
AND AS ASC BETWEEN BY CASE COUNT DESC DISTINCT ELSE END EXCEPT EXISTS EXPLAIN FROM GROUP HAVING IN INTERSECT IS
JOIN LEFT LIKE LIMIT NOT NULL ON OR ORDER RECURSIVE SELECT THEN UNION USING VALUES WHEN WHERE WITH
"""


def run(answer: Callable[[str], None]) -> None:
    """Ask for queries and answer them until there are no more."""
    click.echo("Queries end with ; and \\? tells what else there is.", err=True)
    with _editing() as keep:
        while (text := _read()) is not None:
            keep(text)
            command, _, rest = text.partition(" ")
            if command == "\\d":
                describe(rest.strip().rstrip(";"))
            elif command == "\\e":
                for example in SQL_EXAMPLES:
                    click.echo(f"-- {example.question}\n{example.query};\n")
            elif command.startswith("\\"):
                click.echo(_HELP, err=True)
            else:
                try:
                    answer(text)
                except GgnStoreError as error:
                    tell(error)
                except KeyboardInterrupt:
                    if not process.goes_on():
                        raise
                    click.echo("interrupted", err=True)


def _read() -> str | None:
    """A query, or a command that begins with a backslash; None at the end."""
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
        if not lines and line.strip() in ("\\q", "quit", "exit"):
            return None
        if not lines and line.lstrip().startswith("\\"):
            return line.strip()
        if line.strip():
            lines.append(line)
        if line.rstrip().endswith(";"):
            return "\n".join(lines)


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
        readline.add_history(" ".join(text.split("\n")))

    try:
        yield keep
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            readline.write_history_file(file)
            file.chmod(0o600)


def complete(begun: str, number: int) -> Any:
    """The `number`th word that what is typed may become; None where there are no more."""
    names = [name for view in VIEWS for name in (view.name, view.every, *view.names) if name is not None]
    words = [*names, *SQL_TABLES, *(_KEYWORDS if begun.isupper() else _KEYWORDS.lower()).split()]
    found = sorted({word for word in words if begun and word.startswith(begun)})
    return found[number] if number < len(found) else None
