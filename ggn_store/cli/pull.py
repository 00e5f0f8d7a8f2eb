"""`ggn-store pull`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import transfers


@click.command("pull")
@transfers.exchange_options
@click.pass_context
def command(ctx: click.Context, /, **asked: Any) -> None:
    """Take rulesets with their histories from another store.

    Only what this store does not have travels. Each ruleset is taken whole or not at all: after an interruption, pull
    again.

    Where this store has revisions that the other one has not, and both have changed something, nothing is pulled and
    both sides' changes are listed (exit code 3): --merge makes one of both here. Changes of one and the same entry in
    two ways are never merged.
    """
    transfers.exchange(ctx, is_push=False, **asked)
