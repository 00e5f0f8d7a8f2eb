"""`ggn-store approve`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("approve")
@click.argument("proposal", metavar="PROPOSAL")
@click.option(
    "--digest",
    metavar="DIGEST",
    help="The digest of what was read, as `proposal` shows it, or at least its first 16 digits. Exit code 3 where the "
    "proposal has another one. Default: the one that this command prints.",
)
@options.change_options
@click.pass_context
def command(ctx: click.Context, proposal: str, digest: str | None, author: str | None, message: str | None) -> None:
    """Approve of a proposal of somebody else's, such as chess#4.

    With the last approval that it needs it becomes the newest revision. An approval is of one digest, and only what has
    that digest is merged. Postgres knows people by the user that they connect as; a SQLite file has only their word
    for it.
    """
    found = options.open_store(ctx).reviews.approve(proposal, author=author, message=message, digest=digest)
    if found.revision is not None:
        became = f"it is {found.name}@{found.revision} now"
    else:
        left = found.needed - len(found.approvals)
        became = f"it needs {left} more approval{'s' if left > 1 else ''}"
    click.echo(f"{found}: approved, {became} (sha256:{found.digest})")
