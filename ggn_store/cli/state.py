"""`ggn-store state`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import options, printing, stores
from ggn_store.errors import printable
from ggn_store.model.teams.selection import is_pattern

_STATES = ("active", "deprecated", "retired")
_COLUMNS = ("number", "state", "successor", "author", "created_at", "message")


@options.command("state")
@options.ruleset_argument
@click.argument("state", required=False, type=options.OneOf(_STATES), metavar="[active|deprecated|retired]")
@click.option(
    "--use",
    metavar="OTHER",
    shell_complete=options.complete_ruleset,
    help="The ruleset to use instead.",
)
@options.change_options
@options.output_format(options.RECORD_FORMATS, "Of the history. Default: a table on a terminal, NDJSON elsewhere.")
def state(ruleset: str, state: Any, form: str | None, **change: Any) -> None:
    """Mark a ruleset as active, deprecated or retired.

    Without a state, list its states so far, or those of all rulesets below team/ or that a glob matches. Using a
    deprecated ruleset prints a note that names its successor. A retired one also takes no revisions and is not listed;
    its revisions can still be used.
    """
    store = stores.open_store()
    if state is None:
        for name in ("use", "author", "message"):
            options.refuse((change[name] is not None, f"--{name} goes with a state: {', '.join(_STATES)}"))
        several = ("name",) if is_pattern(ruleset) else ()
        printing.print_records(store.states.log(ruleset), form, (*several, *_COLUMNS))
        return
    if form is not None:
        raise click.UsageError("--format is for the list of states: leave the state out")
    found = store.states.set(ruleset, state, **change)
    click.echo(printable(found.note or f"{found.name} is {found.state}"))
