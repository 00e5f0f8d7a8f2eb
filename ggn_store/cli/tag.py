"""`ggn-store tag`"""

from __future__ import annotations

from typing import Any

import click

from ggn_store.cli import options, printing, stores
from ggn_store.errors import printable
from ggn_store.model.teams.selection import is_pattern

_TAGS = ("tag", "revision", "author", "created_at", "message")
_MOVES = ("tag", "move", "revision", "author", "created_at", "message")


@options.command("tag")
@click.argument("ruleset", metavar="RULESET[@REV]", shell_complete=options.complete_ruleset)
@click.argument("name", required=False)
@options.change_options
@click.option(
    "--expect",
    metavar="REV|none",
    help="Where the tag must point now, as 3, sha256:0123abcd or another tag; none: it must be new. "
    "Exit code 3 if somebody else has moved it.",
)
@click.option("--delete", is_flag=True, help="Remove the tag; its history stays.")
@click.option("--log", "--history", "log", is_flag=True, help="List where it has been, newest first.")
@options.limit_option
@options.output_format(options.RECORD_FORMATS, "Of lists; default: a table on a terminal, NDJSON elsewhere.")
def tag(
    ruleset: str,
    name: str | None,
    delete: bool,
    log: bool,
    limit: int | None,
    form: str | None,
    **change: Any,
) -> None:
    """Let the tag NAME point to a revision, or list tags.

    Without a revision, it points to the newest one. Listed are the tags of a ruleset, or of all below team/ or that a
    glob matches. With the tag `stable`, `chess:stable` names the revision in every command. A tag may be moved
    anywhere, also back; every move is kept with its author, message and time.
    """
    given = [f"--{option}" for option, value in change.items() if value]
    options.refuse(
        (log and delete, "--log and --delete: give one of them"),
        (limit is not None and not log, "--limit goes with --log"),
        (
            (log or name is None) and (given or (delete and name is None)),
            f"{(*given, '--delete')[0]} is for changing a tag: name it, without --log",
        ),
    )
    store = stores.open_store()
    several = ("ruleset",) if is_pattern(ruleset) else ()
    if log:
        printing.print_records(store.tags.log(ruleset, name)[:limit], form, (*several, *_MOVES))
    elif name is None:
        printing.print_records(store.tags.list(ruleset), form, (*several, *_TAGS), f"{printable(ruleset)} has no tags")
    else:
        tag = (store.tags.remove if delete else store.tags.set)(ruleset, name, **change)
        if form is not None:
            printing.print_records([tag.data() | {"status": tag.status}], form, (*_TAGS, "status"))
        else:
            click.echo(f"{tag}: removed" if delete else f"{tag}: {tag.status}, {tag.ruleset}@{tag.revision}")
