"""`ggn-store state`"""

from __future__ import annotations

from typing import Any, cast

import click

from ggn_store.cli import options
from ggn_store.errors import printable

_STATES = ("active", "deprecated", "retired")
_COLUMNS = ("number", "state", "successor", "author", "created_at", "message")


@click.command("state")
@options.ruleset_argument
@click.argument("state", required=False, type=click.Choice(_STATES), metavar="[active|deprecated|retired]")
@click.option(
    "--use",
    metavar="OTHER",
    shell_complete=options.complete_ruleset,
    help="The ruleset to use instead.",
)
@options.change_options
@options.output_format(options.RECORD_FORMATS, "Of the history. Default: a table on a terminal, NDJSON elsewhere.")
@click.pass_context
def state(
    ctx: click.Context,
    ruleset: str,
    state: str | None,
    use: str | None,
    author: str | None,
    message: str | None,
    form: str | None,
) -> None:
    """Mark a ruleset as active, deprecated or retired; without a state, list its states so far.

    Using a deprecated ruleset prints a note that names its successor. A retired one also takes no revisions and is
    not listed; its revisions can still be used.
    """
    store = options.open_store(ctx)
    if state is None:
        given = {"--use": use, "--author": author, "--message": message}
        if names := [name for name, value in given.items() if value is not None]:
            raise click.UsageError(f"{names[0]} goes with a state: {', '.join(_STATES)}")
        options.print_records((each.data() for each in store.states.log(ruleset)), form, _COLUMNS)
        return
    if form is not None:
        raise click.UsageError("--format is for the list of states: leave the state out")
    found = store.states.set(ruleset, cast(Any, state), use=use, author=author, message=message)
    click.echo(printable(found.note or f"{found.name} is {found.state}"))
