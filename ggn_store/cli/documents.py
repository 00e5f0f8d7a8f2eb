"""What is done with documents without a store: `generate`, `validate`, `lint`, `convert`, `schema`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, cast

import click

import ggn_store
from ggn_store.api.loading.incoming import GameEntry, IncomingEntry, SpecificationEntry, read_files
from ggn_store.cli import options, printing
from ggn_store.documents.files import find_files
from ggn_store.errors import Problem, counted, printable
from ggn_store.render.problems import problems


@options.command("generate")
@click.argument("game", metavar="GAME|FILE", shell_complete=options.complete_game)
@click.option(
    "--dialect", type=options.OneOf(options.DIALECTS), help="The dialect to write: by default the game's, mostly diff."
)
@options.document_output_option
def generate(game: str, dialect: str | None, output: str | None) -> None:
    """Write the document of a game from its definition.

    GAME is a name of the library (see `list --library`), FILE the path of a definition (.toml), or - for standard
    input. A dialect that cannot say all of it is refused, and what would be lost is listed.
    `ggn-store guide defining-games` describes definitions.
    """
    from ggn_store.api.loading.games import generate_parts

    printing.write(generate_parts(ggn_store.find_game(game), cast(Any, dialect)), output)


# The arguments and options of `validate` and `lint`.
_check_options = options.several(
    options.output_format(("text", "json"), "Lines of text (default), or a JSON array for editors and CI."),
    options.dialect_option,
    click.argument("paths", nargs=-1, type=click.Path(), required=True, metavar="PATH..."),
)


@options.command("validate")
@_check_options
def validate(paths: tuple[str, ...], dialect: Any, form: str | None) -> None:
    """Check files of rules, and print each problem with its place.

    Documents, game descriptions and games; nothing is stored. PATH is as for `load`. Exit code 1 where there is a
    problem.
    """

    def read(entry: IncomingEntry | GameEntry) -> Iterable[Problem]:
        if isinstance(entry, GameEntry):
            entry.definition(dialect)
        else:
            entry.read(dialect)
        return ()

    checked, invalid, found = _check(paths, read, form)
    if checked:
        verdict = f"{invalid} invalid, {counted(found, 'problem')}" if invalid else "all valid"
        click.echo(f"{counted(checked, 'document')} checked: {verdict}", err=True)
    options.end(1 if invalid else 0)


@options.command("lint")
@_check_options
def lint(paths: tuple[str, ...], dialect: Any, form: str | None) -> None:
    """Print what is suspicious in valid documents.

    That is: duplicates, rules that can never apply, names that look like slips, what is unusual in a known game.
    PATH is as for `load`. A finding never keeps a document from being loaded. Exit code 1 where there is a finding,
    or a document that is not valid.
    """

    def look(entry: IncomingEntry | GameEntry) -> Iterable[Problem]:
        found = ggn_store.lint(entry.read(dialect), entry.text, entry.file)
        return [*found, *entry.findings()] if isinstance(entry, SpecificationEntry) else found

    checked, invalid, found = _check(paths, look, form)
    if checked:
        findings = counted(found, "finding") if found else "nothing suspicious"
        read = f"{counted(checked, 'document')} read"
        click.echo(f"{read}: {f'{invalid} invalid, ' if invalid else ''}{findings}", err=True)
    options.end(1 if found else 0)


def _check(
    paths: tuple[str, ...], look: Callable[[IncomingEntry | GameEntry], Iterable[Problem]], form: str | None
) -> tuple[int, int, int]:
    """Print what is wrong with documents; how many there were, how many of them invalid, and how much is wrong."""
    checked = invalid = count = 0

    def found() -> Iterator[Problem]:
        nonlocal checked, invalid, count
        for entry in read_files(find_files(paths)):
            checked += 1
            try:
                listed = look(entry)
            except ggn_store.DocumentError as error:
                invalid += 1
                listed = error.problems
            for each in listed:
                count += 1
                yield each

    printing.write(problems(found(), form or "text"))
    if not checked:
        click.echo("no document found", err=True)
    return checked, invalid, count


@options.command("convert")
@click.argument("path", type=click.Path(), metavar="PATH")
@click.option("--to", "target", type=options.OneOf(options.DIALECTS), required=True, help="The dialect to write.")
@click.option("--dialect", type=options.OneOf(options.DIALECTS), help="The dialect of PATH, instead of detecting it.")
@click.option(
    "--assume",
    type=options.OneOf(("displacement",)),
    help="From must-deny: write plain displacement as the effect of every possibility.",
)
@options.document_output_option
def convert(path: str, target: str, dialect: str | None, assume: str | None, output: str | None) -> None:
    """Write a document in another dialect or its canonical form.

    PATH is one document, or - for standard input. A conversion that would lose something is refused, and what would
    be lost is listed.
    """
    entries = list(islice(read_files(find_files([path])), 2))
    if len(entries) != 1:
        raise ggn_store.InputError(
            f"{printable(path)}: holds {'several documents' if entries else 'no document'}: name one document"
        )
    read = entries[0].read(cast(Any, dialect))
    document = ggn_store.convert(read, cast(Any, target), cast(Any, assume))
    printing.report_left_out(read, target)
    printing.write(document.canonical_parts(), output)


@options.command("schema")
@click.argument("dialect", metavar="DIALECT", type=options.OneOf(options.DIALECTS))
@options.output_option
def schema(dialect: str, output: str | None) -> None:
    """Print the JSON Schema of a dialect, for editors.

    DIALECT is perform, must-deny, diff or gdl.

    It says all of a document's structure. What a schema cannot say (contradictory conditions, a condition that
    restates the source, duplicate keys) is checked by `validate`.
    """
    from ggn_store.documents.schema import json_schema

    printing.write([json.dumps(json_schema(cast(Any, dialect)), indent=2, ensure_ascii=False) + "\n"], output)
