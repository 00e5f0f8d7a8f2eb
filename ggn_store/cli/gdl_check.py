"""`ggn-store gdl check`"""

from __future__ import annotations

import click

from ggn_store.api.specifications import check_specifications
from ggn_store.cli import options
from ggn_store.errors import Problem
from ggn_store.render.problems import problems


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(), required=True, metavar="SPEC...")
@options.output_format(
    ("text", "table", "json", "ndjson"),
    "Text with the places marked (default), a table, a JSON array, or NDJSON.",
)
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], form: str | None) -> None:
    """Print everything that is wrong with game descriptions, and what is suspicious in those that are right.

    SPEC is a file, a directory, a glob pattern or `-`. A problem is a mistake (with how to mend it), or something
    that no move database can hold: cards, chance, hidden information, more than two sides. Findings are rules that
    never apply, names without use, pieces that move in some directions only. Exit code 1 where there is a problem;
    findings alone end in 0.
    """
    found: list[Problem] = []
    checked = refused = 0
    for _, check in check_specifications(paths):
        checked += 1
        refused += len(check.blockers)
        found += [*check.problems, *check.findings]
    options.write(problems(found, form or "text", once=True))
    if not checked:
        click.echo("no specification found", err=True)
        return
    wrong = sum(problem.severity == "problem" for problem in found)
    findings = len(found) - wrong
    words = [
        options.counted(wrong, "problem") if wrong else "no problem",
        *([f"{refused} of them what no move database can hold"] if refused else []),
        options.counted(findings, "finding") if findings else "nothing suspicious",
    ]
    if wrong and not findings:
        words.pop()
    click.echo(f"{options.counted(checked, 'specification')} checked: {', '.join(words)}", err=True)
    ctx.exit(1 if wrong else 0)
