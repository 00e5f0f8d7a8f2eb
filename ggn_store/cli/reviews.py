"""Changes that are reviewed: `propose`, `amend`, `proposals`, `proposal`, `comment`, `approve`, and how they end."""

from __future__ import annotations

import os
import sys
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import click

from ggn_store.cli import options, printing, stores
from ggn_store.cli.export import write_document
from ggn_store.errors import UnknownNameError, counted, printable
from ggn_store.model.changes.merge import note_of
from ggn_store.model.teams.revision import parse_reference
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ggn_store import Store
    from ggn_store.model.changes.changes import Diff
    from ggn_store.model.teams.proposal import Proposal, Verdict
    from ggn_store.model.teams.review import ForeignProposal, ReviewRecord

_COLUMNS = ("proposal", "state", "base", "approved", "author", "created_at", "round", "comments", "summary")

_proposal = click.argument("proposal", metavar="PROPOSAL", shell_complete=options.complete_ruleset)


@options.command("propose")
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
def propose(ruleset: str, file: str | None, **wishes: Any) -> None:
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
        store = stores.open_store()
        made = store.reviews.restore(ruleset, **wishes)
    else:
        store = stores.open_store(create=True)
        made = store.reviews.propose(file, ruleset, **wishes)
    _report(store, made)


def _report(store: Store, made: Proposal) -> None:
    click.echo(printing.proposed(made))
    if made.base is not None:
        printing.report_state(store, store.ruleset(made.name).revision)


@options.command("amend")
@_proposal
@click.argument("content", type=click.Path(), metavar="[FILE|REVISION]", required=False)
@options.dialect_option
@click.option(
    "--base",
    metavar="REVISION",
    help="The revision that it is based on. If it is no longer the newest, nothing is amended, or with --merge both "
    "are merged; then the default is what the proposal is based on.",
)
@options.merge_options(
    "Merge it with the newest revision, unless they conflict.",
    "what is proposed",
    "the newest revision in the store",
)
@options.conflicts_option
@options.accept_changes_option
@options.change_options
def amend(proposal: str, content: str | None, **wishes: Any) -> None:
    """Amend your own proposal, such as chess#4, with other content.

    FILE is as for `load`; NAME@REVISION, NAME@sha256:DIGEST or NAME:TAG is an old revision. What was proposed before is
    kept as the round chess#4.1, the new content is chess#4.2, based on the newest revision; chess#4 means the newest
    round. Approvals of an older round do not count. Without --message, the one of before is kept.

    With --merge, a proposal that has become stale is merged with the newest revision: FILE, or without one what was
    proposed.
    """
    options.refuse(
        (
            content is None and not wishes["merge"],
            "name a FILE or an old REVISION; or give --merge, which brings what was proposed up to date",
        ),
        (content is None and wishes["dialect"], "--dialect is for a FILE: what was proposed has its own"),
        (content is None and wishes["base"] is not None, "--base is for a FILE: what was proposed has its own"),
    )
    store = stores.open_store()
    made = store.reviews.amend(proposal, content, **wishes)
    _report(store, made)
    if wishes["merge"]:
        printing.report_merge(note_of(made.message), ())


@options.command("proposals")
@options.rulesets_argument
@click.option("--all", "closed", is_flag=True, help="List those too that were merged, rejected or withdrawn.")
@options.limit_option
@options.records_option
def proposals(rulesets: tuple[str, ...], closed: bool, limit: int | None, form: str | None) -> None:
    """List the proposals that wait for approvals, newest first.

    A stale one can no longer be merged: the ruleset has a newer revision than its base. A broken one was inserted by
    another program; its summary names the fault, and `ggn-store reject` closes it.

    With --all, proposals of other stores follow, as far as bundles told of them: their state ends in `elsewhere`, and
    nothing of them counts here.
    """
    reviews = stores.open_store().reviews
    found = [_record(each) for each in reviews.list(*rulesets, closed=closed)]
    found += [_foreign_record(each) for each in reviews.elsewhere(*rulesets)] if closed else []
    empty = "nothing is proposed" + ("" if closed else " (--all lists closed proposals)")
    printing.print_records(found[:limit], form, _COLUMNS, empty)


def _record(proposal: Proposal) -> dict[str, object]:
    summary = proposal.fault or _summary(proposal)
    approved = f"{len(proposal.approvals)}/{proposal.needed}"
    return proposal.data() | {"approved": approved, "comments": len(proposal.comments), "summary": summary}


def _foreign_record(proposal: ForeignProposal) -> dict[str, object]:
    comments = sum(each.verdict == "commented" for each in proposal.records)
    said = {"state": f"{proposal.state} elsewhere", "comments": comments, "summary": _summary(proposal.rounds[-1])}
    return proposal.data() | said


def _summary(proposed: Proposal | ReviewRecord) -> str | None:
    return None if proposed.message is None else proposed.message.partition("\n")[0]


@options.command("proposal")
@_proposal
@click.option("--document", is_flag=True, help="Write the document that is proposed, in canonical form, instead.")
@options.pictures_option
@options.text_or_json_option
@options.output_option
def show(proposal: str, document: bool, pictures: str | None, form: str | None, output: str | None) -> None:
    """Show a proposal, such as chess#4.

    It has an author, rounds, what was said of it, and what it changes. chess#4.1 is its first round, chess#4 its newest
    one.

    What is proposed can also be tried before it is approved: `moves chess#4`, `play chess#4`, `compare chess chess#4`
    and all other commands that ask about a ruleset take it.

    What other stores say of a chess#4, as far as bundles told of it, follows under `elsewhere`: nothing of it counts
    here, and it need not be the chess#4 of this store. `show chess@sha256:DIGEST` shows what has the digest, if a
    revision here has it.
    """
    store = stores.open_store()
    reviews = store.reviews
    if pictures is not None:
        reviews.get(proposal)
        printing.report_pictures(store.history.draw(pictures, proposal), pictures)
    if document:
        if form is not None:
            raise click.UsageError("--document writes the document: leave --format out")
        write_document(reviews.ruleset(proposal), output=output)
        return
    foreign = reviews.elsewhere(proposal)
    try:
        found = reviews.get(proposal)
    except UnknownNameError:
        if not foreign:
            raise
        data: dict[str, Any] = {"proposal": proposal}
        lines: Iterable[str] = ()
    else:
        rounds, difference = reviews.rounds(proposal), reviews.diff(proposal)
        earlier = [{name: each.data()[name] for name in _OF_A_ROUND} for each in rounds]
        data = found.data() | {"history": earlier, "difference": difference.data()}
        lines = _shown(found, rounds, difference, printing.is_terminal(sys.stdout) and output is None)
    if form == "json":
        data |= {"elsewhere": [each.data() for each in foreign]} if foreign else {}
        lines = [compact(data) + "\n"]
    else:
        blocks = (*([lines] if lines else ()), *map(_elsewhere, foreign))
        lines = (line for number, block in enumerate(blocks) for line in (*("\n" * (number > 0)), *block))
    printing.write(lines, output)


_OF_A_ROUND = ("round", "base", "digest", "author", "role", "message", "created_at")
_SHORT = 16


def _shown(found: Proposal, rounds: Sequence[Proposal], difference: Diff, is_terminal: bool) -> Iterable[str]:
    from ggn_store.render.diff import diff_text

    made = {
        "proposal": str(found),
        "state": found.state if found.revision is None else f"{found.state}, it is {found.name}@{found.revision}",
        "round": None if len(rounds) == 1 else f"{found.round} of {found.rounds}",
        "base": None if found.base is None else f"{found.name}@{found.base}",
        "approved": f"{len(found.approvals)} of {found.needed}",
        "approvers": None if found.approvers is None else f"only {', '.join(found.approvers)}",
        **{name: found.data()[name] for name in ("author", "role", "message", "created_at", "digest")},
        "changes": str(difference),
    }
    lines = [f"{name:14}{printable(text)}\n" for name, text in made.items() if text is not None]
    lines += [f"accepted      {printable(each)}\n" for each in found.accepted]
    lines += _said(found, rounds)
    return [*lines, "\n", *diff_text(difference, is_terminal and not os.environ.get("NO_COLOR"))]


def _elsewhere(proposal: ForeignProposal) -> Iterator[str]:
    """A line for the proposal of another store, and one for all that came of it."""
    yield f"elsewhere     {proposal}, {proposal.state}; nothing of it counts here\n"
    for each in proposal.records:
        digest = f"sha256:{each.digest[:_SHORT]}" if each.digest is not None else ""
        what = "amended" if each.verdict == "proposed" and each.round > 1 else each.verdict
        yield _line(f"  {what}", each, f"round {each.round}", f"on {each.entry}" if each.entry else digest)


def _said(proposal: Proposal, rounds: Sequence[Proposal]) -> list[str]:
    """A line for each round but the first, and for each verdict and comment, in the order of time."""
    said: list[tuple[Any, str, Proposal | Verdict, int, str]] = []
    said += [(each.created_at, "amended", each, each.round, "") for each in rounds[1:]]
    said += [(each.created_at, each.verdict, each, each.round, each.entry) for each in proposal.verdicts]
    lines = []
    for _, what, each, round_, entry in sorted(said, key=itemgetter(0)):
        void = ", which does not count" if what == "approved" and each.who in proposal.strangers else ""
        place = (f"round {round_}" if len(rounds) > 1 else "", f"on {entry}" if entry else "")
        lines.append(_line(what, each, *place, void=void))
    return lines


def _line(what: str, said: Proposal | Verdict | ReviewRecord, *place: str, void: str = "") -> str:
    where = ", ".join(filter(None, place))
    why = "" if said.message is None else f": {said.message}"
    text = f"{said.data()['created_at']} by {said.author or said.role}{void}{where and f' ({where})'}{why}"
    return f"{what:14}{printable(text)}\n"


@options.command("comment")
@_proposal
@click.option("-m", "--message", metavar="TEXT", required=True, help="The comment.")
@click.option("--piece", metavar="PIECE", help="Comment on this piece of the proposal or of its base.")
@click.option("--source", metavar="SQUARE", help="With --piece: on what it can do from here; * is the hand.")
@click.option("--destination", metavar="SQUARE", help="With --source: on the entry to there.")
@click.option(
    "--author", metavar="NAME", help="Who comments. Default: $GGN_AUTHOR, else the database's user, else git's."
)
def comment(proposal: str, message: str, **place: Any) -> None:
    """Comment on a proposal, such as chess#4.

    Or on a round of it (chess#4.1), or on an entry. A comment decides nothing, is kept for good, and may also be added
    after the proposal has ended.
    """
    given = [place[name] is not None for name in ("piece", "source", "destination")]
    options.refuse(
        (given[1] and not given[0], "--source says where a piece stands: name it with --piece"),
        (given[2] and not given[1], "--destination is where it goes from a --source: name that, too"),
    )
    found = stores.open_store().reviews.comment(proposal, message, **place)
    click.echo(f"{found}: {counted(len(found.comments), 'comment')}")


@options.command("approve")
@_proposal
@click.option(
    "--digest",
    metavar="DIGEST",
    help="The digest of the proposal that you have read, as `proposal` shows it, or at least its first 16 digits. Exit "
    "code 3 if the proposal has another one. Default: the one that this command prints.",
)
@options.change_options
def approve(proposal: str, **judgement: Any) -> None:
    """Approve another author's proposal, such as chess#4.

    The last approval that it needs makes it the newest revision. An approval applies to one digest, and only content
    with that digest is merged. Postgres identifies people by the user that they connect as; a SQLite file trusts
    --author.
    """
    found = stores.open_store().reviews.approve(proposal, **judgement)
    if found.revision is not None:
        became = f"it is {found.name}@{found.revision} now"
    else:
        became = f"it needs {counted(found.needed - len(found.approvals), 'more approval')}"
    click.echo(f"{found}: approved, {became} (sha256:{found.digest})")


@options.command("reject")
@_proposal
@options.change_options
def reject(proposal: str, **judgement: Any) -> None:
    """Reject a proposal, such as chess#4: it is never merged.

    This also closes a broken proposal, which cannot be shown.
    """
    click.echo(f"{stores.open_store().reviews.reject(proposal, **judgement)}: rejected")


@options.command("withdraw")
@_proposal
@options.change_options
def withdraw(proposal: str, **judgement: Any) -> None:
    """Withdraw your own proposal, such as chess#4."""
    click.echo(f"{stores.open_store().reviews.withdraw(proposal, **judgement)}: withdrawn")
