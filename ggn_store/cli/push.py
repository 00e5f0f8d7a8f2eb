"""`ggn-store push`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import transfers


@click.command("push")
@transfers.exchange_options
@click.pass_context
def command(ctx: click.Context, /, **asked: Any) -> None:
    """Send rulesets with their histories to another store.

    Only what it lacks is sent. Each ruleset is stored whole or not at all: after an interruption, push again.

    If the other store has revisions that this one lacks, and they change something, nothing is pushed and the changes
    of both sides are listed (exit code 3): pull first, or pass --merge to merge them there. Two different changes of
    the same entry are never merged.
    """
    transfers.exchange(ctx, is_push=True, **asked)
