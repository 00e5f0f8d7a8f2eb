"""`ggn-store approve`"""

from __future__ import annotations

import click

from ggn_store.cli import options


@click.command("approve")
@click.argument("proposal", metavar="PROPOSAL")
@click.option(
    "--digest",
    metavar="DIGEST",
    help="The digest of the proposal that you have read, as `proposal` shows it, or at least its first 16 digits. Exit "
    "code 3 if the proposal has another one. Default: the one that this command prints.",
)
@options.change_options
@click.pass_context
def command(ctx: click.Context, proposal: str, digest: str | None, author: str | None, message: str | None) -> None:
    """Approve another author's proposal, such as chess#4.

    The last approval that it needs makes it the newest revision. An approval applies to one digest, and only content
    with that digest is merged. Postgres identifies people by the user that they connect as; a SQLite file trusts
    --author.
    """
    found = options.open_store(ctx).reviews.approve(proposal, author=author, message=message, digest=digest)
    if found.revision is not None:
        became = f"it is {found.name}@{found.revision} now"
    else:
        left = found.needed - len(found.approvals)
        became = f"it needs {left} more approval{'s' if left > 1 else ''}"
    click.echo(f"{found}: approved, {became} (sha256:{found.digest})")
