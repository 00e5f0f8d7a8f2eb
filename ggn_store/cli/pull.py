"""`ggn-store pull`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import transfers


@click.command("pull")
@transfers.exchange_options
@click.pass_context
def command(ctx: click.Context, /, **asked: Any) -> None:
    """Fetch rulesets with their histories from another store.

    Only what this store lacks is sent. Each ruleset is stored whole or not at all: after an interruption, pull again.

    If this store has revisions that the other one lacks, and both have changed something, nothing is pulled and the
    changes of both sides are listed (exit code 3): --merge merges them here. Two different changes of the same entry
    are never merged.
    """
    transfers.exchange(ctx, is_push=False, **asked)
