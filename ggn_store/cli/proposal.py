"""`ggn-store proposal`"""

from __future__ import annotations

import os
import sys

import click

from ggn_store.cli import options
from ggn_store.errors import printable
from ggn_store.render.differences import difference_text
from ggn_store.render.records import compact


@click.command("proposal")
@click.argument("proposal", metavar="PROPOSAL")
@click.option("--document", is_flag=True, help="Write the document that is proposed, in canonical form, instead.")
@options.text_or_json_option
@options.output_option
@click.pass_context
def command(ctx: click.Context, proposal: str, document: bool, form: str | None, output: str | None) -> None:
    """Show a proposal, such as chess#4: who made it, what was said of it, and what it changes.

    What is proposed can also be tried before it is approved: `moves chess#4`, `export chess#4`, `perft chess#4` work
    as for a ruleset.
    """
    store = options.open_store(ctx)
    if document:
        if form is not None:
            raise click.UsageError("--document writes the document: leave --format out")
        options.write(store.reviews.ruleset(proposal).export_parts(), output)
        return
    found = store.reviews.get(proposal)
    difference = store.reviews.diff(proposal)
    if form == "json":
        options.write([compact(found.data() | {"difference": difference.data()}) + "\n"], output)
        return
    made = {
        "proposal": str(found),
        "state": found.state if found.revision is None else f"{found.state}, it is {found.name}@{found.revision}",
        "base": None if found.base is None else f"{found.name}@{found.base}",
        "approved": f"{len(found.approvals)} of {found.needed}",
        "author": found.author,
        "role": found.role,
        "message": found.message,
        "created_at": found.data()["created_at"],
        "digest": found.digest,
        "changes": str(difference),
    }
    lines = [f"{name:14}{printable(text)}\n" for name, text in made.items() if text is not None]
    lines += [f"accepted      {printable(each)}\n" for each in found.accepted]
    for each in found.verdicts:
        why = "" if each.message is None else f": {each.message}"
        at = each.data()["created_at"]
        lines.append(f"{each.verdict:14}{printable(f'{at} by {each.author or each.role}{why}')}\n")
    color = output is None and options.is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
    options.write([*lines, "\n", *difference_text(difference, color)], output)
