"""`ggn-store propose`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import options


@click.command("propose")
@options.ruleset_argument
@click.argument("file", type=click.Path(), metavar="FILE")
@click.option("--dialect", type=click.Choice(options.DIALECTS), help="The dialect, instead of detecting it.")
@click.option(
    "--base",
    metavar="REVISION",
    help="The revision that it is based on: 3, sha256:0123abcd, a tag, or 0 for a new ruleset. Fails if the head has "
    "moved.",
)
@click.option(
    "--accept-changes",
    is_flag=True,
    help="Accept changes of moves that a policy protects, and list them in the message.",
)
@options.change_options
@click.pass_context
def command(ctx: click.Context, /, ruleset: str, file: str, **wishes: Any) -> None:
    """Propose a document as the next revision of a ruleset.

    FILE is as for `load`. The proposal is stored as NAME#NUMBER; it becomes a revision when enough others have
    approved it: as many as the policy requires, by default one.
    """
    store = options.open_store(ctx, create=True)
    made = store.reviews.propose(file, ruleset, **wishes)
    on = "as the first revision" if made.base is None else f"on {made.name}@{made.base}"
    click.echo(f"{made}: proposed {on}; it needs {options.counted(made.needed, 'approval')}")
    if made.base is not None:
        options.report_state(store, store.ruleset(ruleset).revision)
