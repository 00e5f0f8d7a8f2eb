"""Game descriptions: `gdl check`, `gdl compile`."""

from __future__ import annotations

from typing import Any

import click

import ggn_store
from ggn_store.api.loading.specifications import check_specifications, compile_specification, read_specification_file
from ggn_store.cli import options, printing
from ggn_store.errors import Problem, counted, printable
from ggn_store.render.problems import problems


@click.group("gdl", cls=options.CommandGroup)
def gdl() -> None:
    """Check and compile game descriptions.

    They are JSON with the conditions and effects of a game's actions. See `ggn-store guide game-descriptions`.
    """


@gdl.command("check")
@click.argument("paths", nargs=-1, type=click.Path(), required=True, metavar="SPEC...")
@options.output_format(
    ("text", "table", "json", "ndjson"),
    "Text with the places marked (default), a table, a JSON array, or NDJSON.",
)
def check(paths: tuple[str, ...], form: str | None) -> None:
    """Print what is wrong or suspicious in game descriptions.

    SPEC is a file, a directory, a glob pattern or `-`. A problem is a mistake (with how to mend it), or something
    that no move database can hold: cards, chance, hidden information, more than two sides. Findings are rules that
    never apply, names without use, pieces that move in some directions only. What no other program of the language
    reads is named, too. What shows only when a description is compiled, `validate` prints. Exit code 1 where there is
    a problem; findings alone end in 0.
    """
    found: list[Problem] = []
    checked = refused = 0
    own: dict[str, None] = {}
    for _, each in check_specifications(paths):
        checked += 1
        refused += len(each.blockers)
        found += [*each.problems, *each.findings]
        own |= dict.fromkeys(each.extensions)
    printing.write(problems(found, form or "text", once=True))
    if not checked:
        click.echo("no specification found", err=True)
        return
    wrong = sum(problem.severity == "problem" for problem in found)
    findings = len(found) - wrong
    words = [
        counted(wrong, "problem") if wrong else "no problem",
        *([f"{refused} of them what no move database can hold"] if refused else []),
        counted(findings, "finding") if findings else "nothing suspicious",
    ]
    if wrong and not findings:
        words.pop()
    click.echo(f"{counted(checked, 'specification')} checked: {', '.join(words)}", err=True)
    if own:
        click.echo(f"uses extensions that other programs do not read: {', '.join(own)}", err=True)
    options.end(1 if wrong else 0)


@gdl.command("compile")
@click.argument("path", type=click.Path(), metavar="SPEC")
@click.option(
    "--piece-map",
    "pieces",
    multiple=True,
    metavar="KIND=CODE",
    help="The piece of a kind of entities: king=K, or king,moved=true=+K; may be given several times. Case is "
    "ignored: the player determines it.",
)
@click.option("--style", metavar="STYLE", help="The style of all pieces. Default: the first word of the game's name.")
@click.option(
    "--dialect", type=options.OneOf(("gdl", "diff")), default="gdl", show_default=True, help="The dialect to write."
)
@options.document_output_option
def compile_(path: str, pieces: tuple[str, ...], style: str | None, dialect: Any, output: str | None) -> None:
    """Write the document that a game description compiles to.

    SPEC is a file, or - for standard input. Every move of every kind of piece becomes an entry that names its action.
    What cannot be compiled is refused with its place, as `gdl check` prints it; so is a dialect that cannot say all
    of it, with what would be lost.
    """
    piece_map = {}
    for each in pieces:
        kind, equals, code = each.rpartition("=")
        if not equals:
            raise click.UsageError(f"--piece-map {printable(each)}: name a kind and its piece, as in king=K")
        piece_map[kind] = code
    file, data, beside = read_specification_file(path)
    compiled = compile_specification(data, piece_map=piece_map, style=style, file=file, beside=beside)
    document = compiled.document
    if dialect != document.dialect:
        document = ggn_store.convert(document, dialect)
    printing.write(document.canonical_parts(), output)
    names = ", ".join(f"{identifier}: {kind}" for identifier, kind in compiled.kinds.items())
    click.echo(f"{document.possibilities:,} possibilities of {len(document.pieces)} pieces", err=True)
    click.echo(printable(names), err=True)
