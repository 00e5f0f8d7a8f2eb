"""`ggn-store push`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import options, transfers


@click.command("push")
@transfers.rulesets_argument
@transfers.remote_option
@transfers.all_option
@transfers.transfer_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    rulesets: tuple[str, ...],
    remote: str | None,
    everything: bool,
    form: str | None,
    **wishes: Any,
) -> None:
    """Give rulesets with their histories to another store.

    Only what it does not have travels. Each ruleset is taken whole or not at all: after an interruption, push again.

    Where the other store has revisions that this one has not, and they change something, nothing is pushed and both
    sides' changes are listed (exit code 3): pull first, or let --merge make one of both there. Changes of one and the
    same entry in two ways are never merged.
    """
    names, address = transfers.chosen(rulesets, everything), transfers.remote(remote)
    store = options.open_store(ctx)
    with transfers.progress("pushing") as progress:
        transfers.tell(ctx, store.push_each(address, names, progress=progress, **wishes), form, "sent")
