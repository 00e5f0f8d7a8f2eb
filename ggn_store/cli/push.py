"""`ggn-store push`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import transfers


@click.command("push")
@transfers.exchange_options
@click.pass_context
def command(ctx: click.Context, /, **asked: Any) -> None:
    """Give rulesets with their histories to another store.

    Only what it does not have travels. Each ruleset is taken whole or not at all: after an interruption, push again.

    Where the other store has revisions that this one has not, and they change something, nothing is pushed and both
    sides' changes are listed (exit code 3): pull first, or let --merge make one of both there. Changes of one and the
    same entry in two ways are never merged.
    """
    transfers.exchange(ctx, is_push=True, **asked)
