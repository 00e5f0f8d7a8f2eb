"""Rulesets as files: `export`, `compile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ggn_store.cli import options, printing, stores
from ggn_store.cli.progress import progress
from ggn_store.documents.files import place_beside
from ggn_store.errors import printable
from ggn_store.output import STDOUT

if TYPE_CHECKING:
    from ggn_store import Ruleset

_FORMATS = ("parquet", "duckdb", "csv", "sqlite")
_VARIANTS = "variants.ini"
_ENGINES = ("duckdb", "spark", "datafusion", "polars", "clickhouse")


class _Command(options.StrictCommand):
    """A command with two ways to be used."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, f"RULESET [--definition | --format {_VARIANTS}] [-o FILE]")
        formatter.write_usage(ctx.command_path, "--format FORMAT DIRECTORY [--ruleset NAME]... [OPTIONS]", "       ")


def _complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    if ctx.params.get("form") not in (None, _VARIANTS):
        return [CompletionItem(incomplete, type="dir")]
    return options.complete_ruleset(ctx, parameter, incomplete)


@options.command("export", cls=_Command)
@click.argument("what", metavar="RULESET|DIRECTORY", required=False, shell_complete=_complete)
@options.document_output_option
@click.option("--dialect", type=options.OneOf(options.DIALECTS), help="The dialect to write. Default: its own.")
@click.option(
    "--definition", is_flag=True, help="Write the definition or game description that it was loaded from, unchanged."
)
@click.option(
    "--format",
    "form",
    type=options.OneOf((*_FORMATS, _VARIANTS)),
    help="Write the views, as files of this format, into DIRECTORY; it must be new, or empty. variants.ini: write what "
    "Fairy-Stockfish can play of RULESET.",
)
@click.option(
    "--ruleset",
    "names",
    metavar="NAME",
    multiple=True,
    shell_complete=options.complete_ruleset,
    help="With --format: only this ruleset, NAME@REVISION or NAME#NUMBER; may be repeated. Default: all.",
)
@click.option("--all-revisions", "every", is_flag=True, help="With --format: every revision, not only the newest.")
@click.option(
    "--expanded",
    is_flag=True,
    help="With --format: write rules out for each revision, instead of once a piece.",
)
@click.option("--force", is_flag=True, help="With --format: replace an older export.")
def export(  # noqa: PLR0913  (its options)
    what: str | None,
    output: str | None,
    dialect: Any,
    definition: bool,
    form: str | None,
    names: tuple[str, ...],
    every: bool,
    expanded: bool,
    force: bool,
) -> None:
    """Write a document, a definition, or everything as tables.

    RULESET is a name, NAME@REVISION, or a proposal, NAME#NUMBER: its document is written in canonical form. Another
    dialect is refused where it would lose something (see `convert`). What a document cannot say of itself (title,
    source, start position, board, how the game is played, and the definition or game description that it was made from)
    is written into a TOML file beside a FILE that ends in .json, or in .json.gz. `load` looks for it there, and FILE is
    then the same revision again. The TOML file is the definition itself where that says all of it.

    With --definition the definition (TOML) or game description (JSON) is written as it was loaded, byte for byte.

    With --format variants.ini the definition of RULESET is written as a section of Fairy-Stockfish's variants.ini. What
    it has no option for is named, in comments and on standard error, and whether moves differ for it. The section is
    called as the revision is (chess-1), since the engine has names of its own. `import` reads it back.

    With another --format the views that `sql` asks (v_moves, v_conditions, ...) are written for notebooks and other
    programs, of all rulesets and all of one moment, into a DIRECTORY that is there as a whole or not at all; its
    README.md says what the columns mean. The rules of a piece are written once, however many rulesets have it: v_moves
    is made of the tables piece_moves and v_pieces, and with --expanded written out.

    Every digest is derived again from what is read: a document that the store does not hold any more as it was put in
    is an error, and no file is written.

    Parquet and DuckDB need an extra: pip install 'ggn-store[duckdb]'.
    """
    if form in (None, _VARIANTS):
        given_with = {"--ruleset": names, "--all-revisions": every, "--expanded": expanded, "--force": force}
        for name, given in given_with.items():
            options.refuse((given, f"{name} goes with --format: name one RULESET to write its document"))
        options.refuse((what is None, "Missing argument 'RULESET' (or --format and DIRECTORY)."))
        options.refuse((definition and dialect, "--dialect is for documents: a definition is written as it was loaded"))
        options.refuse(
            (form and definition, "--definition goes without --format: a definition is written as it was loaded"),
            (form and dialect, "--dialect is for documents: variants.ini is made from a definition"),
        )
        found = stores.open_ruleset(str(what))
        if form is not None:
            _write_variant(found, output)
        elif definition:
            write_definition(found.export_definition(), output)
        else:
            write_document(found, dialect, output)
        return
    options.refuse(
        (definition, "--definition goes without --format: name one RULESET"),
        (dialect is not None, "--dialect goes without --format: the views are the same in every dialect"),
        (
            output is not None,
            "-o goes without --format: write `export --format FORMAT DIRECTORY`, and --ruleset NAME for one ruleset",
        ),
        (what is None, "Missing argument 'DIRECTORY'."),
    )
    _write_views(str(what), form, names or None, every=every, expanded=expanded, force=force)


def write_definition(text: str, output: str | None) -> None:
    """Write a definition byte for byte, whatever standard output makes of texts."""
    if output in (None, STDOUT):
        click.echo(text.encode(), nl=False)
    else:
        printing.write([text], output)


def _write_variant(found: Ruleset, output: str | None) -> None:
    section = found.export_variant()
    for each in section.left_out:
        click.echo(printable(f"{found.revision}: {each}"), err=True)
    write_definition(section.text, output)


def write_document(found: Ruleset, dialect: Any = None, output: str | None = None) -> None:
    """Write the document of a ruleset, and beside a file what it cannot say of itself."""
    parts = found.export_parts(dialect)
    if dialect not in (None, found.dialect):
        printing.report_left_out(found.document(), dialect)
    printing.write(parts, output)
    beside = None if output is None else place_beside(output)
    if beside is None:
        return
    said = found.export_beside(dialect).encode()
    if said and not beside.exists():
        printing.write_bytes([said], str(beside))
        click.echo(f"what the document cannot say of itself is in {printable(str(beside))}", err=True)
    elif beside.exists() and (not beside.is_file() or beside.read_bytes() != said):
        click.echo(f"{printable(str(beside))} is there already, says otherwise, and was left as it is", err=True)


def _write_views(*what: Any, **how: Any) -> None:
    views = stores.open_store().views
    with progress("exporting") as reporter:
        made = views.export(*what, **how, progress=reporter.set)
    rows = ", ".join(f"{count:,} of {name}" for name, count in made.rows.items())
    click.echo(f"{printable(made.directory)}: rows of {made.revisions:,} revisions: {rows}", err=True)
    if made.formulas:
        printing.report_note(
            f"a spreadsheet would take texts of {', '.join(made.formulas)} for formulas: import the files with all "
            "columns as text"
        )


@options.command("compile")
@options.ruleset_argument
@click.option("-o", "--output", metavar="DIRECTORY", help="Where the files go; it must not hold any.")
@options.positions_option
@click.option(
    "--sql", "engine", type=options.OneOf(_ENGINES), help="Print the statement that asks this engine for moves."
)
def compile_(ruleset: str, output: str | None, positions: str | None, engine: str | None) -> None:
    """Write a ruleset as Parquet files for other engines to join.

    RULESET is a name, NAME@REVISION, or a proposal, NAME#NUMBER. With --positions the positions of a file are written
    beside it, as the statement that --sql prints joins them. Needs pyarrow: pip install 'ggn-store[duckdb]'.
    """
    options.refuse(
        (not output and not engine, "Missing option '-o' / '--output'."),
        (positions and not output, "--positions are written into files: name a directory for them with -o"),
    )
    found = stores.open_ruleset(ruleset)
    if output:
        found.columns.compile(output, positions)
        compiled = found.columns.compiled.tables["possibility"].num_rows
        click.echo(f"{found.revision}: {compiled:,} possibilities compiled to {printable(output)}", err=True)
    if engine:
        click.echo(found.columns.sql(engine), nl=False)
