"""Changes that are reviewed: `propose`, `proposals`, `proposal`, `approve`, `reject`, `withdraw`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ggn_store.cli import options
from ggn_store.cli.export import write_document
from ggn_store.errors import printable
from ggn_store.model.revision import parse_reference
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.model.proposal import Proposal

_COLUMNS = ("proposal", "state", "base", "approved", "author", "created_at", "summary")

_proposal = click.argument("proposal", metavar="PROPOSAL", shell_complete=options.complete_ruleset)


@click.command("propose")
@options.ruleset_argument
@click.argument("file", type=click.Path(), metavar="[FILE]", required=False)
@options.dialect_option
@click.option(
    "--base",
    metavar="REVISION",
    help="The revision that it is based on: 3, sha256:0123abcd, a tag, or 0 for a new ruleset. Fails if the head has "
    "moved.",
)
@options.accept_changes_option
@options.change_options
@click.pass_context
def propose(ctx: click.Context, /, ruleset: str, file: str | None, **wishes: Any) -> None:
    """Propose a document as the next revision of a ruleset.

    FILE is as for `load`. Without one, RULESET is NAME@REVISION, NAME@sha256:DIGEST or NAME:TAG, an old revision that
    is to be the newest one again, as it was: `restore` under review. The proposal is stored as NAME#NUMBER; it becomes
    a revision when enough others have approved it: as many as the policy requires, by default one.
    """
    if file is None:
        options.refuse(
            (parse_reference(ruleset).is_newest, f"name a FILE to propose, or an old revision: {printable(ruleset)}@1"),
            (wishes.pop("dialect"), "--dialect is for a FILE: an old revision has its own"),
            (wishes.pop("base") is not None, "--base is for a FILE: an old revision is based on the newest one"),
        )
        store = options.open_store(ctx)
        made = store.reviews.restore(ruleset, **wishes)
    else:
        store = options.open_store(ctx, create=True)
        made = store.reviews.propose(file, ruleset, **wishes)
    on = "as the first revision" if made.base is None else f"on {made.name}@{made.base}"
    click.echo(f"{made}: proposed {on}; it needs {options.counted(made.needed, 'approval')}")
    if made.base is not None:
        options.report_state(store, store.ruleset(made.name).revision)


@click.command("proposals")
@options.rulesets_argument
@click.option("--all", "closed", is_flag=True, help="List those too that were merged, rejected or withdrawn.")
@options.limit_option
@options.records_option
@click.pass_context
def proposals(ctx: click.Context, rulesets: tuple[str, ...], closed: bool, limit: int | None, form: str | None) -> None:
    """List the proposals that wait for approvals, of all rulesets or of some, the newest first.

    A stale one can no longer be merged: the ruleset has a newer revision than its base. A broken one was inserted by
    another program; its summary names the fault, and `ggn-store reject` closes it.
    """
    found = options.open_store(ctx).reviews.list(*rulesets, closed=closed)[:limit]
    empty = "nothing is proposed" + ("" if closed else " (--all lists closed proposals)")
    options.print_records(map(_record, found), form, _COLUMNS, empty)


def _record(proposal: Proposal) -> dict[str, object]:
    summary = proposal.fault or (None if proposal.message is None else proposal.message.partition("\n")[0])
    approved = f"{len(proposal.approvals)}/{proposal.needed}"
    return proposal.data() | {"approved": approved, "summary": summary}


@click.command("proposal")
@_proposal
@click.option("--document", is_flag=True, help="Write the document that is proposed, in canonical form, instead.")
@options.pictures_option
@options.text_or_json_option
@options.output_option
@click.pass_context
def show(
    ctx: click.Context, proposal: str, document: bool, pictures: str | None, form: str | None, output: str | None
) -> None:
    """Show a proposal, such as chess#4: who made it, what was said of it, and what it changes.

    What is proposed can also be tried before it is approved: `moves chess#4`, `play chess#4`, `compare chess chess#4`
    and all other commands that ask about a ruleset take it.
    """
    store = options.open_store(ctx)
    reviews = store.reviews
    if pictures is not None:
        reviews.get(proposal)
        options.report_pictures(store.history.draw(pictures, proposal), pictures)
    if document:
        if form is not None:
            raise click.UsageError("--document writes the document: leave --format out")
        write_document(reviews.ruleset(proposal), output=output)
        return
    from ggn_store.render.diff import diff_text

    found, difference = reviews.get(proposal), reviews.diff(proposal)
    if form == "json":
        options.write([compact(found.data() | {"difference": difference.data()}) + "\n"], output)
        return
    made = {
        "proposal": str(found),
        "state": found.state if found.revision is None else f"{found.state}, it is {found.name}@{found.revision}",
        "base": None if found.base is None else f"{found.name}@{found.base}",
        "approved": f"{len(found.approvals)} of {found.needed}",
        "approvers": None if found.approvers is None else f"only {', '.join(found.approvers)}",
        **{name: found.data()[name] for name in ("author", "role", "message", "created_at", "digest")},
        "changes": str(difference),
    }
    lines = [f"{name:14}{printable(text)}\n" for name, text in made.items() if text is not None]
    lines += [f"accepted      {printable(each)}\n" for each in found.accepted]
    for each in found.verdicts:
        why = "" if each.message is None else f": {each.message}"
        is_void = each.verdict == "approved" and each.who in found.strangers
        stands = ", which does not count" if is_void else ""
        at = each.data()["created_at"]
        lines.append(f"{each.verdict:14}{printable(f'{at} by {each.author or each.role}{stands}{why}')}\n")
    color = output is None and options.is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
    options.write([*lines, "\n", *diff_text(difference, color)], output)


@click.command("approve")
@_proposal
@click.option(
    "--digest",
    metavar="DIGEST",
    help="The digest of the proposal that you have read, as `proposal` shows it, or at least its first 16 digits. Exit "
    "code 3 if the proposal has another one. Default: the one that this command prints.",
)
@options.change_options
@click.pass_context
def approve(ctx: click.Context, /, proposal: str, **judgement: Any) -> None:
    """Approve another author's proposal, such as chess#4.

    The last approval that it needs makes it the newest revision. An approval applies to one digest, and only content
    with that digest is merged. Postgres identifies people by the user that they connect as; a SQLite file trusts
    --author.
    """
    found = options.open_store(ctx).reviews.approve(proposal, **judgement)
    if found.revision is not None:
        became = f"it is {found.name}@{found.revision} now"
    else:
        became = f"it needs {options.counted(found.needed - len(found.approvals), 'more approval')}"
    click.echo(f"{found}: approved, {became} (sha256:{found.digest})")


@click.command("reject")
@_proposal
@options.change_options
@click.pass_context
def reject(ctx: click.Context, /, proposal: str, **judgement: Any) -> None:
    """Reject a proposal, such as chess#4: it is never merged.

    This also closes a broken proposal, which cannot be shown.
    """
    click.echo(f"{options.open_store(ctx).reviews.reject(proposal, **judgement)}: rejected")


@click.command("withdraw")
@_proposal
@options.change_options
@click.pass_context
def withdraw(ctx: click.Context, /, proposal: str, **judgement: Any) -> None:
    """Withdraw your own proposal, such as chess#4."""
    click.echo(f"{options.open_store(ctx).reviews.withdraw(proposal, **judgement)}: withdrawn")
