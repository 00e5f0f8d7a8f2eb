"""The rulesets of a store: `list`, `show`, `delete`."""

from __future__ import annotations

from typing import Any

import click

import ggn_store
from ggn_store.cli import options, printing, stores
from ggn_store.errors import printable
from ggn_store.model.moves.play import DUTIES, HOST_DUTIES, Play
from ggn_store.render.moves import place_text
from ggn_store.render.records import compact, labelled, table

_RULESETS = ("name", "revision", "state", "dialect", "board", "pieces", "possibilities", "title")
_GAMES = ("name", "title", "board", "tier", "possibilities", "families")
_PIECES = ("piece", "side", "sources", "destinations", "possibilities", "conditions")


@options.command("list")
@options.rulesets_argument
@click.option(
    "--library", is_flag=True, help="List the games that come with ggn-store instead of the store's rulesets."
)
@click.option("--all", "everything", is_flag=True, help="List retired rulesets, too.")
@options.page_options
@options.records_option
def list_(rulesets: tuple[str, ...], library: bool, everything: bool, form: str | None, **page: Any) -> None:
    """List the rulesets of the store, or the games of the library.

    RULESET is a name, a namespace (team/) or a glob, as for every command that takes several: see `guide teams`. With
    --library it may also be a family of games, or another name for one, such as draughts.
    """
    hidden = 0
    if library:
        from ggn_store.api.loading.games import library_games, library_names

        options.refuse((any(page.values()), "--limit and --after are of the store: leave them out with --library"))
        wanted = library_names(rulesets)
        found = [game.data() for game in library_games() if not rulesets or game.name in wanted]
    else:
        summaries = stores.open_store().list(*rulesets, **page)
        shown = [each for each in summaries if everything or each.revision.state != "retired"]
        found, hidden = [each.data() for each in shown], len(summaries) - len(shown)
        if len(summaries) == page["limit"]:
            printing.tell_more(summaries[-1].revision.name)
    if hidden:
        click.echo(f"{hidden} retired ruleset{'s are' if hidden > 1 else ' is'} not listed (--all)", err=True)
    columns: tuple[str, ...] = _GAMES if library else _RULESETS
    if printing.record_format(form) == "table" and all(each.get("state") == "active" for each in found):
        columns = tuple(column for column in columns if column != "state")
    empty: str | None = "the store is empty: `ggn-store load --library` loads well-known games"
    if hidden or page["after"] is not None:
        empty = None if hidden else f"no ruleset comes after {printable(page['after'])}"
    printing.print_records(found, form, columns, empty)


@options.command("show")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="Show where this piece may ever go instead, and by which actions.")
@options.text_or_json_option
def show(ruleset: str, piece: str | None, form: str | None) -> None:
    """Show a revision of a ruleset, and how it is played.

    Also where it comes from, what it changed, its board and its pieces. RULESET is a name, or NAME@REVISION,
    NAME@sha256:DIGEST, NAME:TAG, or a proposal, NAME#NUMBER.
    """
    store = stores.open_store()
    found = stores.find_ruleset(store, ruleset)
    if piece is not None:
        _show_piece(found, piece, form)
        return
    last = store.history.log(str(found.revision), 1)[0]
    summary, pieces = found.summary().data() | last.data(), found.piece_summaries()
    play = _play(found, summary)
    if form == "json":
        text = found.revision.envelope.definition
        game: dict[str, Any] = {} if text is None else {"host": _meanings(play), "definition": text}
        if play != Play():
            game |= {"play": play.data()}
        if found.variables:
            game |= {"variables": {name: each.data() for name, each in found.variables.items()}}
        click.echo(compact(summary | game | {"pieces": pieces}))
        return
    name, _, _ = found.name.partition("#")
    summary |= {"parents": ", ".join(f"{name}@{number}" for number in summary["parents"]) or None}
    summary |= {"tags": ", ".join(last.tags) or None, "changes": str(last.changes)}
    _write_text(found, summary)
    width = printing.terminal_width()
    click.echo(table(_PIECES, [[str(each[column]) for column in _PIECES] for each in pieces], width), nl=False)
    if found.variables:
        rows = [[each.name, each.initial, " ".join(each.values)] for each in found.variables.values()]
        click.echo("\n" + table(("variable", "initial", "values"), rows, width), nl=False)
    _write_play(play, width)


def _play(ruleset: ggn_store.Ruleset, summary: dict[str, Any]) -> Play:
    """How it is played; the definition also says the tier."""
    try:
        definition = ruleset.definition
    except ggn_store.DocumentError as error:  # one that a newer ggn-store has stored
        click.echo(f"the definition of {ruleset.revision} cannot be read by this ggn-store:\n{error}", err=True)
        return Play()
    if definition is not None:
        summary |= {"tier": definition.tier, "notes": definition.notes}
    return ruleset.play


def _meanings(play: Play) -> dict[str, str]:
    """What it asks for beyond its moves, and what of that is left to the players."""
    return {name: {**DUTIES, **HOST_DUTIES}[name] for name in (*(each.name for each in play.duties), *play.host)}


def _write_play(play: Play, width: int | None) -> None:
    """What players have to do, how the game ends, and what nobody judges."""
    duties = [[each.name, " ".join(each.pieces), DUTIES[each.name]] for each in play.duties]
    if duties:
        click.echo("\n" + table(("duty", "pieces", "meaning"), duties, width), nl=False)
    if play.outcomes:
        said = [each.data() for each in play.outcomes]
        rows = [[each.pop("when"), each.pop("verdict"), each.pop("side", ""), _details(each)] for each in said]
        click.echo("\n" + table(("it ends by", "verdict", "side", "details"), rows, width), nl=False)
    if play.host:
        click.echo(
            "\n" + table(("left to the players", "meaning"), [[name, HOST_DUTIES[name]] for name in play.host], width),
            nl=False,
        )


def _details(said: dict[str, Any]) -> str:
    written = ((name, _listed(value) if isinstance(value, list) else value) for name, value in said.items())
    flags = {True: "yes", False: "no"}
    return ", ".join(f"{name}: {flags[value] if isinstance(value, bool) else value}" for name, value in written)


def _listed(words: list[str]) -> str:
    return ("; " if any(" " in word for word in words) else " ").join(words)


def _write_text(ruleset: ggn_store.Ruleset, summary: dict[str, Any]) -> None:
    text = ruleset.revision.envelope.definition
    if text is not None:
        written = "JSON" if ruleset.revision.envelope.is_described else "TOML"
        summary |= {"definition": f"{len(text.splitlines())} lines of {written} (`export --definition` writes them)"}
    for name, value in summary.items():
        if value is not None:
            click.echo(labelled(name, str(value).splitlines() or [""], 14, printing.terminal_width()))
    click.echo()


def _show_piece(ruleset: ggn_store.Ruleset, piece: str, form: str | None) -> None:
    """Where a piece may go from each source, by action and required state."""
    listed = list(ruleset.read_piece(piece).entries())
    if form == "json":
        possibilities = [
            {"source": source.square, "destination": destination.square, "ordinal": ordinal}
            | ({} if each.origin is None else {"action": each.origin.data()})
            | ({"when": {name: list(values) for name, values in each.guards.items()}} if each.guards else {})
            for source, destination, ordinal, each in listed
        ]
        click.echo(compact({"piece": piece, "possibilities": possibilities}))
        return
    found: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for source, destination, _, each in listed:
        origin = each.origin
        action, goes_on = ("", "") if origin is None else (origin.action, "yes" if origin.chainable else "")
        when = " ".join(f"{name}={'|'.join(values)}" for name, values in sorted(each.guards.items()))
        found.setdefault((place_text(source.square), action, goes_on, when), {})[place_text(destination.square)] = None
    columns = ("source", "action", "goes on", "when", "destinations")
    rows = [(*key, " ".join(destinations)) for key, destinations in found.items()]
    used = [number for number in range(len(columns)) if any(row[number] for row in rows)]
    click.echo(
        table([columns[number] for number in used], [[row[number] for number in used] for row in rows]), nl=False
    )


@options.command("rename")
@options.ruleset_argument
@click.argument("new", metavar="NEW")
@options.change_options
def rename(ruleset: str, new: str, **change: Any) -> None:
    """Give a ruleset another name, with all that belongs to it.

    Its history, tags, states and proposals go by the new name. Commands that name the old one fail and report the new
    one; no other ruleset gets the old name. The same policy must count for both names. Stores that pull or are pushed
    to rename it, too.
    """
    found = stores.open_store().rename(ruleset, new, **change)
    click.echo(f"{ruleset} is {found.name} now; its newest revision is {found}")


@options.command("delete")
@options.ruleset_argument
def delete(ruleset: str) -> None:
    """Hide a ruleset. Its revisions are kept: loading it again brings it back with them."""
    kept = stores.open_store().delete(ruleset)
    revisions = "its revision is" if kept == 1 else f"its {kept} revisions are"
    click.echo(f"{ruleset} is hidden; {revisions} kept, and loading it again brings it back")
