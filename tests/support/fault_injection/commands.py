"""The commands that faults are injected into, and the stores that each of them begins with."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final
from unittest import mock

from alembic import command as migrations

from ggn_store import GgnStoreError, Store, parse
from ggn_store.cli import main
from ggn_store.model.documents.layout import PLAIN
from ggn_store.model.teams.transfer import Transferred
from ggn_store.store.rulesets import load
from ggn_store.store.upkeep import collect
from tests.support.fault_injection.settings import OWN, REMOTE, Place
from tests.support.migrations import alembic, connected
from tests.support.people import KNIGHT, OTHER, ROOK, WIDER

AUTHOR: Final = "ann"
REVIEWER: Final = "bob"
BOTH: Final = ("sqlite", "postgres")


@dataclass(frozen=True, slots=True)
class Command:
    """What is prepared without faults, and then run with them.

    `act` acknowledges each transaction that the user is told of before the end; when it returns, all are acknowledged.
    """

    name: str
    prepare: Callable[[Place], None]
    act: Callable[[Place], object]
    names: tuple[str, ...] = (OWN,)
    databases: tuple[str, ...] = BOTH


# --- stores as they are before the command ---


def nothing(_: Place) -> None:
    """No store at all, or an empty database."""


def game(place: Place, name: str = OWN) -> None:
    with Store.open(place.clean(name), upgrade=True) as store:
        store.load(KNIGHT, "game", author=AUTHOR)
        store.load(WIDER, "game", author=AUTHOR, message="wider")
        store.tags.set("game@1", "stable", author=AUTHOR)


def older_game(place: Place) -> None:
    game(place)
    with connected(place.clean()) as connection:
        alembic(connection, migrations.downgrade, "0001")


def hidden_game(place: Place) -> None:
    game(place)
    with Store.open(place.clean()) as store:
        store.delete("game")


def two_games(place: Place, giving: str, taking: str) -> None:
    game(place, giving)
    with Store.open(place.clean(giving)) as store:
        store.load(ROOK, "rook", author=AUTHOR)
        store.tags.set("rook", "first", author=AUTHOR)
    with Store.open(place.clean(taking), upgrade=True) as store:
        store.load(OTHER, "another", author=AUTHOR)


def bundled_games(place: Place) -> None:
    two_games(place, REMOTE, OWN)
    with Store.open(place.clean(REMOTE)) as store:
        store.exchange.create_bundle(place.directory / "rules.bundle")


def garbage(place: Place) -> None:
    game(place)
    with Store.open(place.clean()) as store:
        database = store.session.database
        for document in (OTHER, ROOK):
            parsed = parse(document)
            with database.writing() as connection:
                load._pieces(database, connection, parsed, load.store_board(database, connection, parsed.board), PLAIN)


def proposal(place: Place) -> None:
    game(place)
    with Store.open(place.clean()) as store:
        store.policies.set("game", review=1, author=AUTHOR)
        store.reviews.propose(OTHER, "game", author=AUTHOR)


# --- the commands ---


def taken(place: Place, results: Iterable[Transferred]) -> None:
    for each in results:
        if each.error is not None:
            raise each.error
        place.acknowledge()


def collected(place: Place, *, vacuum: bool = False) -> None:
    with mock.patch.object(collect, "_ROWS_A_BATCH", 1):
        place.store().upkeep.collect(vacuum=vacuum)


def approved(place: Place) -> None:
    place.store(by_reviewer=True).reviews.approve("game#1", author=REVIEWER)


def upgraded(place: Place) -> None:
    with Store.at(place.address()) as store:
        store.upgrade()


def loaded_into_new(place: Place) -> None:
    with Store.open(place.address(), upgrade=True) as store:
        store.load(KNIGHT, "game", author=AUTHOR)


def exported(form: Any) -> Callable[[Place], object]:
    return lambda place: place.store().views.export(place.directory / form, form)


class ProgramError(GgnStoreError):
    """What the program said on standard error, ending with the exit code of a failure."""


def program(*arguments: str) -> Callable[[Place], None]:
    """Run the program in this process; `{}` in an argument is the place's directory."""

    def run(place: Place) -> None:
        given = [each.format(place.directory) for each in arguments]
        said = io.StringIO()
        with ExitStack() as stack:
            stack.enter_context(mock.patch.object(sys, "argv", ["ggn-store", "--db", place.address(), *given]))
            stack.enter_context(contextlib.redirect_stderr(said))
            stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
            try:
                main()
            except SystemExit as end:
                if end.code == 1 and said.getvalue().startswith("Error: "):
                    raise ProgramError(said.getvalue()) from None
                if end.code:
                    raise AssertionError(f"exit code {end.code}: {said.getvalue()}") from None

    return run


COMMANDS: Final = {
    each.name: each
    for each in (
        Command("load", game, lambda place: place.store().load(OTHER, "game", author=AUTHOR)),
        Command("load into a new store", nothing, loaded_into_new),
        Command(
            "load --merge",
            game,
            lambda place: place.store().load({**KNIGHT, **ROOK}, "game", author=AUTHOR, base="1", merge=True),
        ),
        Command(
            "push",
            lambda place: two_games(place, OWN, REMOTE),
            lambda place: taken(place, place.store().exchange.push_each(place.store(REMOTE), tags=True, author=AUTHOR)),
            (OWN, REMOTE),
        ),
        Command(
            "pull",
            lambda place: two_games(place, REMOTE, OWN),
            lambda place: taken(
                place, place.store().exchange.pull_each(place.address(REMOTE), tags=True, author=AUTHOR)
            ),
            (OWN, REMOTE),
        ),
        Command(
            "bundle load",
            bundled_games,
            lambda place: taken(
                place,
                place.store().exchange.load_bundle_each(place.directory / "rules.bundle", tags=True, author=AUTHOR),
            ),
            (OWN, REMOTE),
        ),
        Command(
            "bundle create", game, lambda place: place.store().exchange.create_bundle(place.directory / "game.bundle")
        ),
        Command("gc", garbage, collected),
        Command("gc --vacuum", garbage, lambda place: collected(place, vacuum=True), databases=("sqlite",)),
        Command("tag", game, lambda place: place.store().tags.set("game@2", "stable", author=AUTHOR)),
        Command("tag --remove", game, lambda place: place.store().tags.remove("game", "stable", author=AUTHOR)),
        Command("propose", game, lambda place: place.store().reviews.propose(OTHER, "game", author=AUTHOR)),
        Command("amend", proposal, lambda place: place.store().reviews.amend("game#1", ROOK, author=AUTHOR)),
        Command(
            "comment",
            proposal,
            lambda place: place.store().reviews.comment("game#1", "why?", piece="C:N", author=AUTHOR),
        ),
        Command("approve", proposal, approved),
        Command("reject", proposal, lambda place: place.store().reviews.reject("game#1", author=AUTHOR)),
        Command("delete", game, lambda place: place.store().delete("game")),
        Command("restore", game, lambda place: place.store().history.restore("game@1", author=AUTHOR)),
        Command(
            "restore of a hidden one", hidden_game, lambda place: place.store().history.restore("game", author=AUTHOR)
        ),
        Command("policy set", game, lambda place: place.store().policies.set("game", review=1, author=AUTHOR)),
        Command("state set", game, lambda place: place.store().states.set("game", "retired", author=AUTHOR)),
        Command("export -o", game, program("export", "game", "-o", "{}/game.json")),
        Command("export csv", game, exported("csv")),
        Command("export sqlite", game, exported("sqlite")),
        Command("db upgrade", nothing, upgraded),
        Command("db upgrade of 0001", older_game, upgraded),
        Command("db rebuild", game, lambda place: place.store().upkeep.rebuild()),
    )
}
