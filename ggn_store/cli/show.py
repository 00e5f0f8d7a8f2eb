"""`ggn-store show`"""

from __future__ import annotations

import click

import ggn_store
from ggn_store.cli import options
from ggn_store.errors import printable
from ggn_store.render.records import compact, table

_PIECES = ("piece", "side", "sources", "destinations", "possibilities", "conditions")


@click.command("show")
@options.ruleset_argument
@options.output_format(("text", "json"), "Text (default), or one JSON object.")
@click.pass_context
def command(ctx: click.Context, ruleset: str, form: str | None) -> None:
    """Show a revision of a ruleset: where it comes from, what it changed, its board and its pieces.

    RULESET is a name, or NAME@REVISION, NAME@sha256:DIGEST, NAME:TAG.
    """
    store = options.open_store(ctx)
    found = options.find_ruleset(store, ruleset)
    # What is proposed has no history yet.
    last = None if "#" in ruleset else store.log(str(found.revision), 1)[0]
    summary, pieces = found.summary().data() | ({} if last is None else last.data()), found.piece_summaries()
    text = found.revision.envelope.definition
    try:
        definition = found.definition
    except ggn_store.DocumentError as error:  # one that a newer ggn-store has stored
        definition = None
        click.echo(f"the definition of {found.revision} cannot be read by this ggn-store:\n{error}", err=True)
    duties = {} if definition is None else {name: ggn_store.HOST_DUTIES[name] for name in definition.host}
    if definition is not None:
        summary |= {"tier": definition.tier}
    if form == "json":
        game = {} if text is None else {"host": duties, "definition": text}
        click.echo(compact(summary | game | {"pieces": pieces}))
        return
    names = [f"{found.name}@{number}" for number in summary["parents"]]
    summary |= {
        "parents": ", ".join(names) or None,
        "tags": None if last is None else ", ".join(last.tags) or None,
        "changes": None if last is None else str(last.changes),
    }
    if text is not None:
        summary |= {"definition": f"{len(text.splitlines())} lines of TOML (--format json prints them)"}
    for name, value in summary.items():
        if value is not None:
            lines = str(value).splitlines() or [""]
            click.echo(f"{name:14}" + f"\n{'':14}".join(map(printable, lines)))
    if duties:
        click.echo("\nleft to whoever plays it, because GGN cannot say it:")
        click.echo(table(("duty", "meaning"), list(duties.items())), nl=False)
    click.echo()
    click.echo(table(_PIECES, [[str(piece[column]) for column in _PIECES] for piece in pieces]), nl=False)
