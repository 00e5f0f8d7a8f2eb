"""Options that the analyses share, and the notes beside their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

import ggn_store
from ggn_store.cli import options
from ggn_store.errors import printable


def analysis_options(command: options.Command) -> options.Command:
    """The options --format and --show-sql; the command gets them as `form` and `show_sql`."""
    command = click.option("--show-sql", is_flag=True, help="Print the SQL that runs, on standard error.")(command)
    return options.records_option(command)


def sql_reporter(show_sql: bool) -> Callable[[str], None] | None:
    """A callback that prints the SQL that runs; None unless it is wanted."""
    return _report if show_sql else None


def _report(statement: str) -> None:
    click.echo("\n".join(map(printable, statement.split("\n"))) + ";\n", err=True)


def note_state_variables(rulesets: Iterable[ggn_store.Ruleset]) -> None:
    """Report that the state variables of rulesets are no part of the answer."""
    for ruleset in rulesets:
        if ruleset.variables:
            names = ", ".join(map(printable, ruleset.variables))
            click.echo(f"note: state variables are left out: {ruleset.revision} has {names}", err=True)
