"""`ggn-store policy`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import ggn_store
from ggn_store.api.positions.json_text import read_positions
from ggn_store.cli import options, printing, stores
from ggn_store.errors import printable
from ggn_store.model.teams.policy import LISTS, PolicyRules, PositionSet
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.model.teams.policy import Policy


_RULES = ("lint", "compatible", "review", *LISTS)
_COLUMNS = ("namespace", *_RULES, "author", "created_at", "message")
_LOG = ("number", *_RULES, "removed", "author", "created_at", "message")
_ENDINGS = (".gz", ".ndjson", ".jsonl", ".json")

_namespace = click.argument("namespace", metavar="NAMESPACE")


@click.group("policy", cls=options.CommandGroup)
def policy() -> None:
    """Set requirements for the revisions of a namespace.

    NAMESPACE is `team` for all of team/..., `team/chess` for one ruleset, '*' (in quotes) for the whole store. The
    policy of the longest namespace applies alone. Invalid documents are never stored, under any policy.
    """


@policy.command("set")
@_namespace
@click.option(
    "--lint",
    multiple=True,
    metavar="CLASS",
    help="Refuse documents with findings of this class, as `lint --format json` names it in `code`; or all. "
    "Can be given several times.",
)
@click.option(
    "--compatible",
    metavar="FILE",
    help="Refuse changes of the moves of these positions (NDJSON, as for `moves --positions`, at most 1,000): they are "
    "kept with the policy.",
)
@click.option(
    "--review", type=options.IntRange(0, 100), default=0, metavar="N", help="How many other people must approve."
)
@click.option(
    "--proposer",
    "proposers",
    multiple=True,
    metavar="NAME",
    help="Who may propose, and load where no review is asked for.",
)
@click.option("--approver", "approvers", multiple=True, metavar="NAME", help="Whose approvals and rejections count.")
@click.option("--tagger", "taggers", multiple=True, metavar="NAME", help="Who may move tags and set states.")
@options.change_options
def set_(namespace: str, compatible: str | None, **rules: Any) -> None:
    """Set the policy of a namespace, in place of the one that it has.

    Requirements that are not given do not apply, even if an enclosing namespace has them.

    A NAME is a user or a group of the Postgres server; in a SQLite file, which trusts --author, the name of an author.
    These options can be given several times; without one, everybody may who may on that server.
    """
    positions = None
    rules |= {key: rules[key] or None for key in LISTS}
    if compatible is not None:
        positions = PositionSet(_name(compatible), tuple(read_positions(compatible)))
    store = stores.open_store(create=True)
    click.echo(_text(store.policies.set(namespace, compatible=positions, **rules)))


@policy.command("show")
@click.argument("namespace", metavar="[NAMESPACE]", default="*")
@click.option("--positions", is_flag=True, help="Print the positions whose moves must not change, as NDJSON.")
@options.text_or_json_option
def show(namespace: str, positions: bool, form: str | None) -> None:
    """Show the policy that applies to a namespace or a ruleset.

    It may be that of an enclosing namespace.
    """
    found = stores.open_store().policies.get(namespace)
    rules = None if found is None else found.rules
    if positions:
        if rules is None or rules.compatible is None:
            raise ggn_store.UnknownNameError(f"no positions are kept for {printable(namespace)}")
        click.echo(rules.compatible.text(), nl=False)
    elif form == "json":
        click.echo(compact(None if found is None else found.data()))
    elif found is None:
        click.echo(f"{printable(namespace)} has no requirements but valid documents")
    else:
        click.echo(_text(found))


@policy.command("list")
@options.records_option
def list_(form: str | None) -> None:
    """List the policies of all namespaces that have one."""
    found = stores.open_store().policies.list()
    empty = "no namespace has a policy: `ggn-store policy set` sets one"
    printing.print_records(map(_record, found), form, _COLUMNS, empty)


@policy.command("log")
@_namespace
@options.records_option
def log(namespace: str, form: str | None) -> None:
    """List every policy that a namespace has had, newest first."""
    found = stores.open_store().policies.log(namespace)
    if not found:
        click.echo(f"{printable(namespace)} never had a policy of its own", err=True)
    printing.print_records(map(_record, found), form, _LOG)


@policy.command("remove")
@_namespace
@options.change_options
def remove(namespace: str, **change: Any) -> None:
    """Remove the policy of a namespace.

    That of the enclosing namespace applies instead.
    """
    left = stores.open_store().policies.remove(namespace, **change)
    instead = "only valid documents are required now" if left is None else f"that of {left.namespace} applies now"
    click.echo(f"{printable(namespace)} has no policy of its own any more; {printable(instead)}")


def _name(file: str) -> str:
    """The name that a file of positions gives to them."""
    name = "positions" if file == "-" else Path(file).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return printable(name) or "positions"


def _record(policy: Policy) -> dict[str, object]:
    rules = None if policy.rules is None else policy.rules.data()
    compatible = {} if rules is None else rules.get("compatible") or {}
    return policy.data() | {
        "lint": ", ".join(rules.get("lint", ())) if rules else None,
        "compatible": compatible.get("name"),
        "review": rules.get("review") if rules else None,
        **{key: ", ".join(rules[key]) if rules and key in rules else None for key in LISTS},
        "removed": rules is None and policy.fault is None,
        **({} if policy.fault is None else {"message": f"broken: {policy.fault}"}),
    }


def _text(policy: Policy) -> str:
    rules = policy.rules or PolicyRules()
    lines = {"namespace": policy.namespace, "valid": "always: every document is read strictly before it is stored"}
    if rules.lint:
        lines["lint"] = f"refused: {', '.join(rules.lint)}"
    if rules.compatible is not None:
        count = len(rules.compatible.positions)
        moves = "moves of its position" if count == 1 else f"moves of its {count:,} positions"
        lines["compatible"] = f"{rules.compatible.name}: the {moves} must not change (--accept-changes lists changes)"
    if rules.review:
        people = "1 other" if rules.review == 1 else f"{rules.review} others"
        lines["review"] = f"a change is proposed, and {people} must approve of it (`ggn-store propose`)"
    for key, names in rules.people().items():
        lines[key] = f"only {', '.join(names)} may {LISTS[key]}"
    if policy.fault is not None:
        lines["broken"] = f"{policy.fault}: no revision is taken until another policy is set"
    elif not rules:
        lines["else"] = "nothing, even if an enclosing namespace has requirements"
    by = f" by {policy.author}" if policy.author else ""
    lines["set"] = f"{policy.data()['created_at'] or ''}{by}"
    if policy.message is not None:
        lines["message"] = policy.message
    return "\n".join(f"{name:12}{printable(text)}" for name, text in lines.items())
