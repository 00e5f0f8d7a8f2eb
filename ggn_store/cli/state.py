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
    help="The ruleset that is to be used instead.",
)
@options.change_options
@options.output_format(options.RECORD_FORMATS, "Of what was said so far. Default: a table on a terminal, NDJSON else.")
@click.pass_context
def command(
    ctx: click.Context,
    ruleset: str,
    state: str | None,
    use: str | None,
    author: str | None,
    message: str | None,
    form: str | None,
) -> None:
    """Say that a ruleset is active, deprecated or retired; without a state, list what was said of it so far.

    Whoever uses a deprecated ruleset is told so, and what to use instead. A retired one takes no revisions either, and
    is not listed; what is in it can be used as ever.
    """
    store = options.open_store(ctx)
    if state is None:
        given = {"--use": use, "--author": author, "--message": message}
        if names := [name for name, value in given.items() if value is not None]:
            raise click.UsageError(f"{names[0]} goes with a state: {', '.join(_STATES)}")
        options.print_records((each.data() for each in store.states.log(ruleset)), form, _COLUMNS)
        return
    if form is not None:
        raise click.UsageError("--format is for the list of what was said: leave the state out")
    found = store.states.set(ruleset, cast(Any, state), use=use, author=author, message=message)
    click.echo(printable(found.note or f"{found.name} is {found.state}"))
