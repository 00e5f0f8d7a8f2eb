"""`ggn-store proposals`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ggn_store.cli import options

if TYPE_CHECKING:
    from ggn_store.model.proposal import Proposal


_COLUMNS = ("proposal", "state", "base", "approved", "author", "created_at", "summary")


@click.command("proposals")
@click.argument("ruleset", required=False, metavar="[RULESET]", shell_complete=options.complete_ruleset)
@click.option("--all", "closed", is_flag=True, help="List those too that were merged, rejected or withdrawn.")
@options.records_option
@click.pass_context
def command(ctx: click.Context, ruleset: str | None, closed: bool, form: str | None) -> None:
    """List the proposals that wait for approvals, of all rulesets or of one, the newest first.

    A stale one can no longer be merged: the ruleset has a newer revision than its base. A broken one was inserted by
    another program; its summary names the fault, and `ggn-store reject` closes it.
    """
    found = options.open_store(ctx).reviews.list(ruleset, closed=closed)
    empty = "nothing is proposed" + ("" if closed else " (--all lists closed proposals)")
    options.print_records(map(_record, found), form, _COLUMNS, empty)


def _record(proposal: Proposal) -> dict[str, object]:
    summary = proposal.fault or (None if proposal.message is None else proposal.message.partition("\n")[0])
    approved = f"{len(proposal.approvals)}/{proposal.needed}"
    return proposal.data() | {"approved": approved, "summary": summary}
