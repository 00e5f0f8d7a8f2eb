"""`ggn-store import`"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ggn_store import limits
from ggn_store.cli import options, printing, stores
from ggn_store.errors import printable
from ggn_store.games.fairy.variants import built_in_variants, read_variants
from ggn_store.output import new_directory

if TYPE_CHECKING:
    from ggn_store.games.fairy.variants import Variant


_STATUS = {"unchanged": "unchanged", "restored": "brought back"}


@options.command("import")
@click.argument("sources", nargs=-1, metavar="[FILE | NAME...]", type=click.Path(allow_dash=True))
@click.option("--fairy", "is_built_in", is_flag=True, help="Load variants that Fairy-Stockfish has itself, by name.")
@click.option("--list", "is_listed", is_flag=True, help="List these, with what stands in the way of each.")
@click.option(
    "--variant", "names", multiple=True, metavar="NAME", help="Only this section; may be given several times."
)
@click.option("--allow-host-rules", is_flag=True, help="Accept options that are duties of the host, and record them.")
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DIRECTORY",
    help="Write the definitions there, for editing, instead of loading the games.",
)
@options.records_option
@options.change_options
def import_(
    sources: tuple[str, ...],
    is_built_in: bool,
    is_listed: bool,
    names: tuple[str, ...],
    allow_host_rules: bool,
    output: str | None,
    form: str | None,
    **change: Any,
) -> None:
    """Load the variants of a Fairy-Stockfish variants.ini.

    With --fairy, those that it has itself: all, or these. Each section becomes a ruleset of its name, or every option
    that GGN cannot carry is listed with its line and the tier: C, only by enumerating all boards; D, not at all; B with
    the name of a duty, only if players keep it (see --allow-host-rules). Sections inherit from the built-in variants
    and from sections before them. Options about how a game ends become its outcomes; what these have no words for is
    named as left to the host. Exit code 1 where a section is refused.
    """
    options.refuse(
        (is_listed and (sources or names), "--list lists what Fairy-Stockfish has itself: give it no file and no name"),
        (form is not None and not is_listed, "--format is for --list"),
        (is_built_in and names, "--variant names a section of a file: with --fairy give the names alone"),
        (not is_built_in and not is_listed and len(sources) != 1, "name one file, or variants with --fairy"),
    )
    if is_listed:
        _list(form)
        return
    if is_built_in:
        shown, variants = "Fairy-Stockfish", built_in_variants(sources, allow_host_rules)
    else:
        file = str(click.Path(exists=True, dir_okay=False, allow_dash=True)(sources[0]))
        data = options.read(file, limits.VARIANTS_BYTES)
        shown = "standard input" if file == "-" else file
        variants = read_variants(data, shown, names, allow_host_rules)
    store = None if output is not None else stores.open_store(create=True)
    definitions: dict[str, bytes] = {}
    refused = 0
    for variant in variants:
        if variant.definition is None or variant.text is None:
            refused += 1
            click.echo("\n".join(_refusal(variant, shown)), err=True)
        elif store is None:
            definitions[f"{variant.name}.toml"] = variant.text.encode()
        else:
            revision = store.load(variant.definition, variant.name, **change)
            left = variant.definition.said.host
            duties = f" (left to the host: {', '.join(left)})" if left else ""
            status = _STATUS.get(str(revision.status), "loaded")
            click.echo(f"{revision}: {status}, tier {variant.tier}{duties}")
    if output is not None:
        _write(Path(output), definitions)
    if len(variants) > 1:
        done = "written" if store is None else "in the store"
        what = "variants" if is_built_in else "sections"
        click.echo(f"{len(variants)} {what}: {len(variants) - refused} {done}, {refused} refused", err=True)
    if refused:
        options.end(1)


def _list(form: str | None) -> None:
    """What becomes of each built-in variant where players keep what is left to them."""
    rows = [
        {
            "name": each.name,
            "tier": each.tier,
            "board": "x".join(map(str, (each.definition and each.definition.board.shape) or ())) or None,
            "host": [*each.definition.said.host] if each.definition else [],
            "refused": [refusal.option for refusal in each.refusals],
        }
        for each in built_in_variants((), allow_host_rules=True)
    ]
    printing.print_records(rows, form, ("name", "tier", "board", "host", "refused"))


def _write(directory: Path, definitions: Mapping[str, bytes]) -> None:
    """Write files into a directory, which appears with all of them where it is new."""
    if directory.is_dir():
        for name, data in definitions.items():
            printing.write_bytes([data], str(directory / name))
    else:
        with new_directory(directory, "name a directory") as part:
            for name, data in definitions.items():
                (part / name).write_bytes(data)
    for name in definitions:
        click.echo(printable(str(directory / name)))


def _tier(tier: str) -> str:
    return "" if tier == "?" else f", tier {tier}"


def _refusal(variant: Variant, file: str) -> list[str]:
    place = f":{variant.line}" if variant.line else ""
    lines = [f"{printable(file)}{place}: [{printable(variant.name)}] is refused{_tier(variant.tier)}"]
    for refusal in variant.refusals:
        absent = "built in" if refusal.value else "by default"
        place = absent if refusal.line is None else f"line {refusal.line}"
        said = " = ".join(filter(None, (refusal.option, refusal.value)))
        said = f"{said}: " if said else ""
        reason = "\n    ".join(map(printable, refusal.reason.split("\n")))
        lines.append(f"  {place}{_tier(refusal.tier)}: {printable(said)}{reason}")
    if all(refusal.duty is not None for refusal in variant.refusals):
        lines.append("  with --allow-host-rules these are recorded as duties of the host")
    return lines
