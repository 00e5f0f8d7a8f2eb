"""Questions about rules as a whole: `stats`, `mobility`, `coverage`, `who-reaches`, `uses`, `dead`, and others."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ggn_store.cli import options, printing, stores
from ggn_store.errors import counted, printable, quote
from ggn_store.model.teams.selection import is_pattern

if TYPE_CHECKING:
    import ggn_store
    from ggn_store.api.questions.analysis import RulesetAnalysis

_STATS = (
    *("ruleset", "revision", "dialect", "board", "squares", "pieces", "first", "second", "sources", "destinations"),
    *("possibilities", "drops", "conditions", "effects", "hand_effects", "keeps_turn"),
)
_MOBILITY = ("piece", "squares", "total", "mean", "min", "max", "quiet", "capture", "reach", "colours")
_FLAT_MOBILITY = (
    *_MOBILITY[:6],
    *(f"{kind}{number}" for kind in ("quiet", "capture") for number in ("", "_mean", "_min", "_max")),
    *_MOBILITY[8:],
)
_DEAD = ("kind", "piece", "source", "destination", "ordinal", "by", "square", "state", "possibilities")
_SYMMETRIES = ("of", "symmetry", "holds", "entries", "possibilities", "start", "where")
_ASYMMETRIES = (
    *("of", "symmetry", "piece", "source", "destination", "possibilities"),
    *("other_piece", "other_source", "other_destination", "other_possibilities", "what"),
)
_ASYMMETRIES_SHOWN = 10
_MOVERS = ("fingerprint", "ruleset", "revision", "piece", "relation")
_GROUPS = ("fingerprint", "pieces", "rulesets", "moves", "movers")
_LIKE = ("ruleset", "revision", "likeness", "movements", "other_movements", "concepts", "differs")
_DIFFERENCES = ("change", "sides", "piece", "other", "gained", "lost", "what")


# What is asked of one ruleset, and the columns of the answer.
AnalysisCall = tuple[Callable[["RulesetAnalysis"], list[Any]], "Sequence[str]"]


def _report(statement: str) -> None:
    click.echo("\n".join(map(printable, statement.split("\n"))) + ";\n", err=True)


_show_sql = click.option(
    "--show-sql",
    "tell",
    is_flag=True,
    callback=lambda _ctx, _param, shown: _report if shown else None,
    help="Print the SQL that runs, on standard error.",
)


def _paged(
    store: ggn_store.Store, rulesets: tuple[str, ...], limit: int | None, after: str | None
) -> tuple[str, ...] | None:
    """The rulesets of a page, as they are where none is asked for; None, which is reported, where nothing is on it."""
    if limit is None and after is None:
        return rulesets
    found = store.analysis().names(rulesets, limit=limit, after=after)
    if not found:
        click.echo(f"no ruleset comes after {printable(after or '')}", err=True)
        return None
    if len(found) == limit:
        printing.tell_more(found[-1])
    return (*found,)


# The options --format and --show-sql; the command gets them as `form`, and `tell`, which prints the SQL.
_answer_options = options.several(_show_sql, options.records_option)


def _of_ruleset(command: Callable[..., None]) -> Callable[..., None]:
    """The same options, of a command about one ruleset: it gets the ruleset's analysis, and `form`."""

    @functools.wraps(command)
    def opened(ruleset: str, tell: Any, **asked: Any) -> None:
        command(stores.open_ruleset(ruleset).analysis(tell), **asked)

    return _answer_options(opened)


def _of_rulesets(command: Callable[..., AnalysisCall]) -> Callable[..., None]:
    """The same of a command about any rulesets, which says what it asks of one, and the columns of the answer."""

    @functools.wraps(command)
    def opened(
        rulesets: tuple[str, ...], form: str | None, tell: Any, limit: int | None, after: str | None, **asked: Any
    ) -> None:
        form = printing.record_format(form)
        ask, columns = command(form=form, **asked)
        if len(rulesets) == 1 and not is_pattern(rulesets[0]):
            records = ask(stores.open_ruleset(rulesets[0]).analysis(tell))
        else:
            columns, store = ("ruleset", "revision", *columns), stores.open_store()
            chosen = _paged(store, rulesets, limit, after)
            if chosen is None:
                return
            records = [
                {"ruleset": name, "revision": int(number or 1)} | each.data()  # a proposal is one revision
                for reference, found in store.analysis(tell).each(chosen, ask).items()
                for name, _, number in [reference.partition("@")]
                for each in found
            ]
        printing.print_records(records, form, columns)
        if not records:
            click.echo("nothing found", err=True)

    return options.page_options(_answer_options(opened))


def _by(first: str, second: str) -> Callable[[options.Command], options.Command]:
    return click.option(
        "--by", type=options.OneOf((first, second)), default=first, show_default=True, help="A row each."
    )


@options.command("stats")
@options.rulesets_argument
@_by("ruleset", "piece")
@options.page_options
@_answer_options
def stats(rulesets: tuple[str, ...], by: str, form: str | None, tell: Any, **page: Any) -> None:
    """Count what is in rulesets, from pieces to effects.

    Without RULESET, all of the store in their newest revisions. Drops are possibilities from the hand; keeps_turn are
    those after which the same side moves again. --by piece is for one RULESET.
    """
    if by == "piece":
        if len(rulesets) != 1 or any(page.values()):
            raise click.UsageError("--by piece counts the pieces of one ruleset: name one, without --limit and --after")
        found = stores.open_ruleset(rulesets[0]).analysis(tell).stats()
        printing.print_records(found, form, ("piece", "side", *_STATS[8:]))
        return
    store = stores.open_store()
    chosen = _paged(store, rulesets, **page)
    if chosen is not None:
        printing.print_records(store.analysis(tell).stats(chosen), form, _STATS)


@options.command("mobility")
@options.rulesets_argument
@click.option("--piece", metavar="PIECE", help="Only this piece.")
@_by("piece", "square")
@_of_rulesets
def mobility(piece: str | None, by: str, form: str) -> AnalysisCall:
    """Count the squares that pieces can go to, alone on the board.

    Without RULESET, in all of the store in their newest revisions.

    A destination is quiet if a possibility holds with nothing else on the board, and a capture if one holds with an
    enemy on it and nothing else, whatever the values of state variables. total, mean, min and max count destinations of
    either kind, over the squares that the piece has rules from; quiet and capture count one kind (JSON and CSV have
    mean, min and max of each). reach: the most squares that it gets to from one, in any number of moves. colours: bound
    as a bishop, alternating as a knight, or free. --by square lists the destinations from each square, and from the
    hand (*).
    """
    if by == "square":
        columns = ("piece", "source", "destinations", "quiet", "capture")
        return lambda analysis: analysis.mobility_by_square(piece), columns
    return lambda analysis: analysis.mobility(piece), _FLAT_MOBILITY if form == "csv" else _MOBILITY


@options.command("coverage")
@options.ruleset_argument
@click.option("--piece", metavar="PIECE", help="Only this piece.")
@click.option("--source", metavar="SQUARE", help="With --piece: as if it stood here alone, or were in the hand (*).")
@_answer_options
def coverage(ruleset: str, piece: str | None, source: str | None, form: str | None, tell: Any) -> None:
    """Show which squares each piece can ever stand on.

    Every piece begins at the start position (without one, on every square that it has rules from) and goes on by its
    rules, promotions, drops and the moves of others, with anything else on the board: conditions count only if they
    can never hold together, and state variables may have any values. No game reaches more squares; it may reach fewer.
    """
    if source is not None and piece is None:
        raise click.UsageError("--source says where a piece stands: name it with --piece")
    analysis = stores.open_ruleset(ruleset).analysis(tell)
    found = analysis.coverage(piece) if source is None else [analysis.coverage_from(str(piece), source)]
    form = printing.record_format(form)
    rows = [each.data() for each in found]
    if form == "table":
        rows = [row | {"squares": "all"} if row["count"] == row["of"] else row for row in rows]
    printing.print_records(rows, form, ("piece", "count", "of", "hand", "squares"))


@options.command("who-reaches")
@options.rulesets_argument
@click.argument("square", metavar="SQUARE")
@_of_rulesets
def who_reaches(square: str, form: str) -> AnalysisCall:
    """Show which pieces have rules that lead to SQUARE.

    Without RULESET, in all of the store that have the square, in their newest revisions.

    quiet: it gets there on a board that is empty otherwise; capture: it takes an enemy who stands there alone. Where
    neither is so, other pieces have to stand somewhere, as for a cannon's jump or castling. State variables may have
    any values. * is the hand.
    """
    columns = ("piece", "source", "quiet", "capture", "possibilities")
    return lambda analysis: analysis.who_reaches(square), columns


@options.command("uses")
@options.rulesets_argument
@click.argument("state", metavar="STATE|PIECE|VARIABLE[=VALUE]")
@_by("piece", "rule")
@_of_rulesets
def uses(state: str, by: str, form: str) -> AnalysisCall:
    """Show which rules mention a piece, a state or a variable.

    A PIECE is such as C:P, a STATE is empty or enemy, and ep may be a VARIABLE of a game description. Without RULESET,
    in all of the store in their newest revisions.

    The roles: rules, possibilities of the piece itself; must and deny, conditions; board and hand, effects. Of a state
    variable (ep), or of one of its values only (ep=4): when, a value that a possibility lets it have; state, its value
    after. --by piece counts the possibilities and mentions of each piece's rules in each role, --by rule lists them.
    """
    if by == "piece":
        return lambda analysis: analysis.uses(state), ("piece", "role", "possibilities", "mentions")
    columns = ("piece", "source", "destination", "ordinal", "role", "square")
    return lambda analysis: analysis.each_use(state), columns


@options.command("dead")
@options.ruleset_argument
@_of_ruleset
def dead(analysis: RulesetAnalysis, form: str | None) -> None:
    """Show rules that can never apply, or that could be left out.

    never: the conditions contradict each other, or what stands on the source. duplicate: the same as an earlier
    possibility of the destination (by: its ordinal). shadowed: another one has the same effects, and holds whenever
    this one does. And where there is a start position, unreachable: the piece never comes to the source. absent: what
    must stand on a square never comes there; see `coverage`.
    """
    found = analysis.dead()
    printing.print_records(found, form, _DEAD)
    click.echo(counted(len(found), "finding") if found else "no dead rules", err=True)


@options.command("symmetry")
@options.ruleset_argument
@_by("symmetry", "entry")
@click.option("--symmetry", "name", metavar="NAME", help="With --by entry: only this one, as the other rows name it.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=f"With --by entry: all, not the first {_ASYMMETRIES_SHOWN} of each symmetry.",
)
@_answer_options
def symmetry(ruleset: str, by: str, name: str | None, every: bool, form: str | None, tell: Any) -> None:
    """Show whether the sides are mirror images, and where not.

    sides: what one side can do, mirrored or turned, is what the other side can do; `equal` is on the same squares.
    first, second: the side is a mirror image of itself from left to right. All possibilities are compared, conditions
    and effects included, but for their order. entries: from where to where it is not so, an entry and its image counted
    once; possibilities: those without a counterpart. start: the start position is symmetric, too. --by entry lists
    where, and in what: of the sides, if there is no symmetry, that with the fewest entries, and of each side. State
    variables are left out of it: nothing says what their values become in a mirror.
    """
    if by != "entry" and (name is not None or every):
        raise click.UsageError("--symmetry and --all go with --by entry: add it")
    found = stores.open_ruleset(ruleset)
    analysis = found.analysis(tell)
    if by == "symmetry":
        printing.print_records(analysis.symmetries(), form, _SYMMETRIES)
    else:
        listed = analysis.asymmetries(name, None if every else _ASYMMETRIES_SHOWN)
        printing.print_records(listed, form, _ASYMMETRIES)
        if not every and _ASYMMETRIES_SHOWN in Counter((each.of, each.symmetry) for each in listed).values():
            click.echo(f"the first {_ASYMMETRIES_SHOWN} of each symmetry; --all lists all", err=True)
    if found.variables:
        printing.report_note(f"state variables are left out: {found.revision} has {', '.join(found.variables)}")
    if found.board.extent is None:
        printing.report_note("the squares have no coordinates, so nothing can be mirrored or turned")


@options.command("same-movers")
@options.rulesets_argument
@click.option("--piece", metavar="PIECE", help="Only pieces that move like this one.")
@click.option(
    "--ruleset",
    metavar="RULESET",
    shell_complete=options.complete_ruleset,
    help="With --piece: whose piece it is. Default: any RULESET's that has it.",
)
@click.option("--rules", "whole", is_flag=True, help="Compare what moves change, too, and drops.")
@click.option("--exact", is_flag=True, help="Only on boards of one size, square by square.")
@click.option("--equal", is_flag=True, help="Distinguish mirrored and turned movement.")
@click.option(
    "--by", type=options.OneOf(("group", "piece")), help="A row each. Default: piece with --piece, else group."
)
@click.option("--limit", "-n", type=options.IntRange(min=1), metavar="N", help="No more than N groups.")
@click.option("--after", metavar="FINGERPRINT", help="The groups that follow the one with this fingerprint.")
@_answer_options
def same_movers(
    rulesets: tuple[str, ...],
    equal: bool,
    by: str | None,
    form: str | None,
    tell: Any,
    **asked: Any,
) -> None:
    """Show which pieces of all games move alike, or mirrored.

    Without RULESET, all of the store in their newest revisions. The comparison covers where pieces go and what must
    stand where, not the names of pieces and squares, each seen from its own side; capturing a kind of piece counts as
    capturing an enemy. A ride over any number of empty squares is the same on boards of any size. Equal movement has
    an equal fingerprint, in any store. State variables may have any values, and are left out of it. relation: how a
    piece's movement comes from that of the first of its group.

    `same-movers --piece C:N --ruleset chess` shows all that move like a knight.
    """
    limit, after = asked.pop("limit"), asked.pop("after")
    if asked["ruleset"] is not None and asked["piece"] is None:
        raise click.UsageError("--ruleset says whose piece it is: name the piece with --piece")
    found = stores.open_store().analysis(tell).same_movers(rulesets, mirrored=not equal, **asked)
    if found.left_out:
        printing.report_note(f"squares without coordinates, so left out: {', '.join(found.left_out)}")
    known = [each.fingerprint for each in found.groups]
    if after is not None and after not in known:
        raise click.UsageError(f"--after: none of these groups has the fingerprint {quote(after)}")
    first = 0 if after is None else known.index(after) + 1
    groups = found.groups[first:][:limit]
    if groups and first + len(groups) < len(known):
        printing.tell_more(groups[-1].fingerprint)
    if (by or ("group" if asked["piece"] is None else "piece")) == "piece":
        printing.print_records([record for group in groups for record in group.records()], form, _MOVERS)
    else:
        printing.print_records(groups, form, _GROUPS)


@options.command("concepts")
@options.rulesets_argument
@options.page_options
@_answer_options
def concepts(rulesets: tuple[str, ...], form: str | None, tell: Any, **page: Any) -> None:
    """Show the concepts of games, and how much they have of each.

    Of one RULESET those that it has, with their values: for most, how many of its pieces do so. Of several, or of all
    in their newest revisions, how many rulesets have each. JSON and CSV also have the SQL that finds a concept. The
    view v_concepts has a column for each, and the guide to analyses lists them.
    """
    store = stores.open_store()
    chosen = _paged(store, rulesets, **page)
    if chosen is None:
        return
    found = store.analysis(tell).concepts(chosen)
    form = printing.record_format(form)
    told = ("meaning",) if form == "table" else ("meaning", "sql")
    if len(found[0].values) == len(rulesets) == 1:
        records = [
            {"concept": each.concept, "value": value, "meaning": each.meaning, "sql": each.sql}
            for each in found
            for value in each.values.values()
            if value
        ]
        printing.print_records(records, form, ("concept", "value", *told))
    else:
        printing.print_records(found, form, ("concept", "rulesets", *told))


@options.command("find")
@options.rulesets_argument
@click.option(
    "--with",
    "having",
    metavar="CONCEPT",
    multiple=True,
    shell_complete=options.complete_concept,
    help="Games with this, or riders>=4, and so on; repeatable.",
)
@click.option(
    "--without",
    "lacking",
    metavar="CONCEPT",
    multiple=True,
    shell_complete=options.complete_concept,
    help="Games without it; repeatable.",
)
@click.option("--board", metavar="SHAPE", help="Games on a board such as 9x9.")
@options.page_options
@_answer_options
def find(
    rulesets: tuple[str, ...],
    having: tuple[str, ...],
    lacking: tuple[str, ...],
    board: str | None,
    form: str | None,
    tell: Any,
    **page: Any,
) -> None:
    """Find games by what they have.

    `find --with hoppers --with drops --board 9x9`, for example. Without RULESET, among all of the store in their newest
    revisions. A CONCEPT is one that `concepts` lists, or a comparison of its number with another by =, !=, <, <=, > or
    >=, in quotes for the shell: --with 'riders>=4'. --limit counts the games that are so.
    """
    found = stores.open_store().analysis(tell).find(rulesets, having=having, lacking=lacking, board=board, **page)
    if len(found.records) == page["limit"]:
        printing.tell_more(found.records[-1]["ruleset"])
    columns = ("ruleset", "revision", "board", *found.concepts)
    printing.print_records(found.records, form, columns, "no ruleset is so")


@options.command("similar")
@options.ruleset_argument
@click.option(
    "--limit", "-n", type=options.IntRange(min=1), default=10, show_default=True, metavar="N", help="No more than N."
)
@_answer_options
def similar(ruleset: str, limit: int, form: str | None, tell: Any) -> None:
    """Show which rulesets of the store are most like one, and why.

    likeness, in per cent: the mean of two shares, of the ways to move that either game has, and of the concepts that
    either has, those in which both agree. movements: pieces of RULESET that some piece there moves like, equal or
    mirrored; other_movements: how many ways to move only one of the two has. concepts: those in which both agree.
    differs: +drops, it has drops and RULESET has not; -castlers, the other way round; files=9, its own number of files.
    A table says how many of all these are.
    """
    store = stores.open_store()
    reference = str(stores.find_ruleset(store, ruleset).revision)
    found = store.analysis(tell).similar(reference)[:limit]
    if printing.record_format(form) != "table":
        printing.print_records(found, form, _LIKE)
        return

    def share(names: tuple[str, ...], others: int) -> str:
        return f"{len(names)} of {len(names) + others}{': ' if names else ''}{', '.join(names)}"

    shown = (
        {"ruleset": each.ruleset, "likeness": each.likeness}
        | {"movements": share(each.movements, each.other_movements)}
        | {"differs": share(each.differs, len(each.concepts))}
        for each in found
    )
    printing.print_records(shown, form, ("ruleset", "likeness", "movements", "differs"), "there is no other ruleset")


@options.command("compare")
@click.argument("before", metavar="A", shell_complete=options.complete_ruleset)
@click.argument("after", metavar="B", shell_complete=options.complete_ruleset)
@_answer_options
def compare(before: str, after: str, form: str | None, tell: Any) -> None:
    """Show in words how the pieces of two games differ.

    A and B are rulesets or revisions of them (NAME, NAME@REVISION, NAME:TAG), or proposals (NAME#NUMBER). Pieces are
    matched by their identifiers, in any style, and others by how they move. gained and lost count moves, from a square
    to another, if the boards are equal; on different boards movement is compared as `same-movers` does, and state
    variables are not. Each piece is seen from its own side; what is true of both sides is one row. `diff` lists every
    possibility that differs.
    """
    store = stores.open_store()
    references = [str(stores.find_ruleset(store, each).revision) for each in (before, after)]
    found = store.analysis(tell).compare(*references)
    printing.print_records(found, form, _DIFFERENCES)
    if not found:
        click.echo("no piece differs", err=True)
