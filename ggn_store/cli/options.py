"""The options and arguments that several commands share, and what is read of them."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar, get_args

import click

import ggn_store
from ggn_store import limits
from ggn_store.api.positions.notations import DEFAULT, NOTATIONS
from ggn_store.cli import printing, stores
from ggn_store.errors import did_you_mean, printable, quote
from ggn_store.model.moves.position import SIDES
from ggn_store.render.records import RecordFormat, compact

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])
# As `model.documents.document` has them, which `--help` has no time to import.
DIALECTS = ("perform", "must-deny", "diff", "gdl")
POSITION_FORMATS = (*NOTATIONS, "json")
_ALIASES = {DEFAULT: ("--position",)}
RECORD_FORMATS = get_args(RecordFormat)


class IntRange(click.IntRange):
    """A whole number between bounds; what is none is called no integer, and not no "integer range"."""

    name = "integer"


class OneOf(click.Choice[str]):
    """One of a few words, of which one that is mistyped is suggested."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        return super().get_invalid_choice_message(value, ctx).rstrip(".") + did_you_mean(str(value), self.choices)


class StrictCommand(click.Command):
    """A command that refuses an option with one value which is given twice, instead of taking the last one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            *_, given = self.make_parser(ctx).parse_args([*args])
            for option, count in Counter(each for each in given if isinstance(each, click.Option)).items():
                if count > 1 and not (option.multiple or option.is_flag):
                    raise click.UsageError(f"{max(option.opts, key=len)} is given more than once: give it once", ctx)
        return super().parse_args(ctx, args)


command = functools.partial(click.command, cls=StrictCommand)


class CommandGroup(StrictCommand, click.Group):
    """Commands, of which one that is mistyped is suggested."""

    command_class = StrictCommand

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            hint = did_you_mean(name, self.list_commands(ctx)) or f": see `{ctx.command_path} --help`"
            raise click.UsageError(f"there is no command {quote(name)}{hint}", ctx)
        return super().resolve_command(ctx, args)


def end(code: int) -> NoReturn:
    """End the command with an exit code."""
    click.get_current_context().exit(code)


def completed(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """The names that begin so, for a shell."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_ruleset(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rulesets of the store whose names begin so, after # their open proposals; nothing where there is no store."""
    from ggn_store.api import completion

    find = completion.proposal_names if "#" in incomplete else completion.ruleset_names
    return completed(find(stores.address(ctx)), incomplete)


def complete_concept(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Concepts, for `find`."""
    from ggn_store.api import completion

    return completed(completion.concept_names(), incomplete)


def complete_game(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The games of the library whose names begin so, and files."""
    from click.shell_completion import CompletionItem

    from ggn_store.api import completion

    return [*completed(completion.game_names(), incomplete), CompletionItem(incomplete, type="file")]


def several(*parts: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """One decorator that is several; the first of them stands lowest, and so last in the help."""
    return lambda command: functools.reduce(lambda made, part: part(made), parts, command)


# The options for the author and the reason of a change: `author` and `message`.
change_options = several(
    click.option("-m", "--message", metavar="TEXT", help="The reason for the change; kept with it."),
    click.option(
        "--author",
        metavar="NAME",
        help="The author of the change. Default: $GGN_AUTHOR, else the database's user, else git's.",
    ),
)


def merge_options(when: str, ours: str, theirs: str) -> Callable[[Command], Command]:
    """--merge, and the options that decide its conflicts; the command gets them as `merge` and `prefer`."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def gathered(*arguments: Any, ours: bool, theirs: bool, **given: Any) -> Any:
            prefer = "ours" if ours else "theirs" if theirs else None
            refuse(
                (ours and theirs, "--ours and --theirs decide conflicts for one side: give one of them"),
                (prefer and not given["merge"], f"--{prefer} decides the conflicts of a merge: give --merge, too"),
                (
                    given.get("conflicts") is not None and not given["merge"],
                    "--conflicts keeps the conflicts of a merge: give --merge, too",
                ),
            )
            return command(*arguments, prefer=prefer, **given)

        decided: Any = several(
            click.option("--theirs", is_flag=True, help=f"With --merge: decide conflicts for {theirs}."),
            click.option("--ours", is_flag=True, help=f"With --merge: decide conflicts for {ours}."),
            click.option("--merge", is_flag=True, help=when),
        )(gathered)
        return decided  # type: ignore[no-any-return]

    return decorate


conflicts_option = click.option(
    "--conflicts",
    metavar="FILE",
    help="With --merge: write conflicts to FILE: the merged source, with git's marks around what both sides changed. "
    "Edit it, then run `resolve FILE`.",
)
ruleset_argument = click.argument("ruleset", metavar="RULESET", shell_complete=complete_ruleset)
rulesets_argument = click.argument("rulesets", metavar="[RULESET]...", nargs=-1, shell_complete=complete_ruleset)
dialect_option = click.option("--dialect", type=OneOf(DIALECTS), help="The dialect, instead of detecting it.")
accept_changes_option = click.option(
    "--accept-changes",
    is_flag=True,
    help="Accept changes of moves that a policy protects, and list them in the message.",
)


def output_format(formats: Sequence[str], help_text: str) -> Callable[[Command], Command]:
    """The option --format; the default depends on whether standard output is a terminal."""
    return click.option("--format", "form", type=OneOf(formats), help=help_text)


# A page of the rulesets of the store, by name: `limit` and `after`.
page_options = several(
    click.option("--after", metavar="RULESET", help="Those of the store whose names come after this one."),
    click.option("--limit", "-n", type=IntRange(min=1), metavar="N", help="No more than N of the store."),
)
limit_option = click.option("--limit", "-n", type=IntRange(min=1), metavar="N", help="No more than the N newest.")
records_option = output_format(RECORD_FORMATS, "Default: a table on a terminal, NDJSON elsewhere.")
text_or_json_option = output_format(("text", "json"), "Text (default), or one JSON object.")


def refuse(*wrong: tuple[object, str]) -> None:
    """Raise a usage error with the message of the first of these conditions that holds."""
    for is_wrong, message in wrong:
        if is_wrong:
            raise click.UsageError(message)


pictures_option = click.option(
    "--pictures",
    metavar="DIRECTORY",
    help="Also draw the moves of each piece that changed, before and after, as SVG files in a new DIRECTORY.",
)


class GivenPosition(NamedTuple):
    """How a position was given on the command line."""

    texts: Mapping[str, str]
    board: str | None = None
    hands: str | None = None
    side: str | None = None
    state: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The options that were given, but for the side."""
        named = [*self.texts, *(name for name in ("board", "hands") if getattr(self, name) is not None)]
        return [f"--{name}" for name in (*named, *(["state"] if self.state else []))]

    @property
    def notation(self) -> str:
        """The notation that the position came in: one of `NOTATIONS`, or json."""
        return next(iter(self.texts), DEFAULT if self.board is None else "json")


def position_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options for a position; the command gets them as one `given`."""

    @functools.wraps(command)
    def gathered(*arguments: Any, **options: Any) -> Any:
        texts = {name: text for name in NOTATIONS if (text := options.pop(name)) is not None}
        place = {name: options.pop(name) for name in ("board", "hands", "side", "state")}
        return command(*arguments, given=GivenPosition(texts, **place), **options)

    return several(
        click.option(
            "--state",
            metavar="NAME=VALUE",
            multiple=True,
            help="The value of a state variable; repeatable. Others have the position's, or their initial one.",
        ),
        click.option("--side", type=OneOf(SIDES), help="The side to move, instead of the position's."),
        click.option("--hands", metavar="JSON", help="The hands: pieces and counts. Left out: not known, not checked."),
        click.option(
            "--board",
            metavar="JSON|@FILE|-",
            help="The position as JSON: squares and pieces, an object with board, hands, side and state, or a text by "
            'its notation, {"fen": "..."}.',
        ),
        *(
            click.option(f"--{name}", *_ALIASES.get(name, ()), name, metavar=name.upper(), help=notation.about)
            for name, notation in reversed(NOTATIONS.items())
        ),
    )(gathered)


positions_option = click.option(
    "--positions",
    metavar="FILE",
    help="Many positions in NDJSON: each line an object with board, hands, side and state, a FEEN text, or a text by "
    'its notation, {"fen": "..."}.',
)


def position(ruleset: ggn_store.Ruleset, given: GivenPosition) -> ggn_store.Position:
    """The position that the options name; without any, the ruleset's own start position."""
    board, hands, side = given.board, given.hands, given.side
    places = [name for name in given.names if name not in ("--hands", "--state")]
    if len(places) > 1:
        names = f"{', '.join(places[:-1])} and {places[-1]}"
        raise click.UsageError(f"{names} {'both' if len(places) == 2 else 'all'} name a position: give one of them")
    if places and board is None and hands is not None:
        raise click.UsageError(f"{places[0]} says what the hands hold: leave --hands out")
    if places and board is None:
        found = ruleset.position(**given.texts)
    elif board is not None:
        from ggn_store.api.positions.json_text import read_board

        found = read_board(text(board), ruleset.handle)
    elif ruleset.has_start:
        found = ruleset.start
    else:
        raise ggn_store.PositionError(
            f"{ruleset.revision} has no start position of its own: give a position with --feen or --board, "
            'or write start = "FEEN" into a TOML file of the document\'s name beside it and load it again'
        )
    state = {**(found.state or {}), **_state(given.state)} if given.state else None
    if hands is None:
        return found.with_changes(side=side, state=state)
    from ggn_store.api.positions.json_text import read_hands

    return found.with_changes(read_hands(hands), side, state)


def write_position(
    ruleset: ggn_store.Ruleset, position: ggn_store.Position, form: str | None, given: GivenPosition
) -> None:
    """Write a position to standard output: in a form that was asked for, else in that of the position that was given.

    Only JSON can say the state of a position: where there is one, that is the form by default.
    """
    form = form or ("json" if ruleset.handle.told_variables else given.notation)
    if ruleset.handle.told_variables and form != "json":
        state = ", ".join(f"{name}={value}" for name, value in (position.state or {}).items())
        printing.report_note(f"{form.upper()} cannot say the state: {state}")
    click.echo(compact(position.data()) if form == "json" else ruleset.notate(position, form))


def _state(words: Iterable[str]) -> dict[str, str]:
    state: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name or not value:
            raise click.UsageError(f"--state {quote(word)}: write NAME=VALUE, such as ep=none")
        if name in state:
            raise click.UsageError(f"--state {quote(word)}: {quote(name)} has a value already")
        state[name] = value
    return state


def text(argument: str) -> str | bytes:
    """What an argument names: the file of @FILE, standard input for -, else itself."""
    if argument != "-" and not argument.startswith("@"):
        return argument
    return read(argument.removeprefix("@"), limits.POSITION_BYTES)


def read(path: str, limit: limits.Limit) -> bytes:
    """All of a file, or of standard input for -; raises InputError where that is more than the limit."""
    from ggn_store.documents import files

    file = files.File(path)
    with files.open_stream(file) as stream:
        return files.read_whole(stream, file, limit)


assume_option = click.option(
    "--assume",
    type=OneOf(("displacement",)),
    help="For must-deny rulesets: take plain displacement as the effect.",
)
legal_option = click.option("--legal", is_flag=True, help="Only what the duties of the game let pass (see `show`).")
captures_first_option = click.option(
    "--captures-first",
    is_flag=True,
    help="Only captures, to their end, if a capture is possible: the duty mandatory-capture.",
)


def _for_a_document(_: click.Context, __: click.Parameter, output: str | None) -> str | None:
    from ggn_store.documents.files import STREAMS

    if output is not None and output.endswith(STREAMS):
        raise click.BadParameter(f"{printable(output)}: each line of such a file is a document: end its name in .json")
    return output


_output = functools.partial(
    click.option, "-o", "--output", metavar="FILE", help="Write to this file instead of standard output."
)
output_option, document_output_option = _output(), _output(callback=_for_a_document)
