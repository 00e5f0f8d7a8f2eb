"""`ggn-store audit`"""

from __future__ import annotations

from datetime import UTC, datetime

import click

from ggn_store.cli import options
from ggn_store.errors import quote
from ggn_store.model.event import ACTIONS

_COLUMNS = ("id", "at", "role", "action", "about", "what")


def read_actions(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The kinds of changes that an option names, with commas between them."""
    actions = () if value is None else tuple(part.strip() for part in value.split(","))
    for action in actions:
        if action not in ACTIONS:
            raise click.BadParameter(f"{quote(action)} is none of {', '.join(ACTIONS)}")
    return actions


def read_id(value: str) -> int | None:
    """The id of a change; None for what is none."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else None


def _read_since(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | datetime | None:
    if value is None or (number := read_id(value)) is not None:
        return None if value is None else number
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{quote(value)} is neither an id nor a time: write 17, 2026-01-31 or 2026-01-31T12:00:00+01:00"
        ) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


only_option = click.option(
    "--only", metavar="ACTION,...", callback=read_actions, help=f"Only these: {', '.join(ACTIONS)}."
)


@click.command("audit")
@click.argument("ruleset", metavar="[RULESET|SPACE/]", required=False, shell_complete=options.complete_ruleset)
@click.option(
    "--since",
    metavar="ID|TIME",
    callback=_read_since,
    help="Only what came after this id, or from this time on (UTC, or with a zone).",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N.")
@only_option
@options.records_option
@click.pass_context
def command(
    ctx: click.Context,
    ruleset: str | None,
    since: int | datetime | None,
    limit: int | None,
    only: tuple[str, ...],
    form: str | None,
) -> None:
    """List what was changed in the store, when and by which user of the database, oldest first.

    The database itself writes this list, and neither readers nor authors can change it.
    """
    found = options.open_store(ctx).upkeep.audit(ruleset, since=since, limit=limit, only=only)
    shown = options.record_format(form) in ("table", "csv")
    items = (each.data() | ({"about": each.about, "what": each.what} if shown else {}) for each in found)
    options.print_records(items, form, _COLUMNS)
