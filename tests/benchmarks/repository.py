"""What a history costs: a library of games in many revisions, how it grows, and what one change takes to travel.

`python -m tests.benchmarks.repository` loads 100 games of the library into a SQLite store and a Postgres store, changes
one entry of one of them 1,000 times, pulls everything into a second store, and then one change at a time. It takes some
ten minutes. `--games` and `--revisions` make it smaller.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import text

from ggn_store import Document, Store
from ggn_store.api.loading.games import library_files
from ggn_store.games import library
from tests.benchmarks.rounds import Figure, medians, seconds, table
from tests.support.postgres import Server, server

ROUNDS = 5
GOAL = 1 / 20


def changed(document: Document, dice: random.Random) -> Document:
    """The document without one possibility of one entry that has several, or of any entry where none has."""
    number = dice.randrange(len(document.pieces))
    piece = document.pieces[number]
    source = dice.choice(piece.sources)
    many = [each for each in source.destinations if len(each.possibilities) > 1]
    if many:
        chosen = dice.choice(many)
        left = [
            replace(each, possibilities=each.possibilities[1:]) if each is chosen else each
            for each in source.destinations
        ]
    elif len(source.destinations) > 1:
        left = [each for each in source.destinations if each is not source.destinations[0]]
    else:
        return changed(document, dice)
    sources = tuple(replace(each, destinations=tuple(left)) if each is source else each for each in piece.sources)
    pieces = list(document.pieces)
    pieces[number] = replace(piece, sources=sources)
    # Its definition says something else now.
    return replace(document, pieces=tuple(pieces), envelope=replace(document.envelope, definition=None))


def size(store: Store, address: str) -> int:
    """Bytes that the store takes on the disk."""
    if address.startswith("sqlite"):
        return Path(address.removeprefix("sqlite:///")).stat().st_size
    with store.session.database.reading() as connection:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())


def revise(store: Store, documents: dict[str, Document], count: int, dice: random.Random) -> list[str]:
    """Change one entry of a game so many times; the names of the games, as often as they were changed."""
    names: list[str] = []
    while len(names) < count:
        name = dice.choice(list(documents))
        documents[name] = changed(documents[name], dice)
        assert store.load(documents[name], name, message=f"change {len(names)}").status == "new"
        names.append(name)
    return names


def measure(kind: str, addresses: tuple[str, str], games: int, revisions: int) -> list[Figure]:
    """Grow one store, and let another follow it."""
    dice = random.Random(games * revisions)
    everything = (library.index()[name] for name in (*library.names(), *library.descriptions()))
    names = [game.name for game in sorted(everything, key=lambda game: game.possibilities)[:games]]
    with ExitStack() as stack:
        mine, theirs = (stack.enter_context(Store.open(address, upgrade=True)) for address in addresses)
        empty = size(mine, addresses[0])
        for file in library_files(names):
            mine.load(file.path, file.name)
        loaded = size(mine, addresses[0])
        documents = {name: mine.ruleset(name).document() for name in names}
        changes = revise(mine, documents, revisions, dice)
        grown = size(mine, addresses[0])
        whole = seconds(lambda: theirs.exchange.pull(mine))
        often = statistics.mode(changes)

        def follow() -> None:
            assert [each.revisions for each in theirs.exchange.pull(mine, [name])] == [1]

        times: dict[str, list[float]] = {"log": [], "diff": [], "pull": []}
        for _ in range(ROUNDS):
            [name] = revise(mine, documents, 1, dice)
            works: dict[str, Callable[[], object]] = {
                "log": partial(mine.history.log, often),
                "diff": partial(mine.history.diff, name),
                "pull": follow,
            }
            for work, taken in medians(works, 1).items():
                times[work].append(taken)
        heads = {store: {each.name: each.lineage for each in store.revisions()} for store in (mine, theirs)}
        assert heads[mine] == heads[theirs]
        assert len(mine.history.log(often)) == theirs.ruleset(often).revision.number
    a_game, a_change = (loaded - empty) / games, (grown - loaded) / revisions
    print(f"{kind}: {games} games, {revisions} revisions; everything pulled in {whole:.1f} s")
    print(f"{kind}: {a_game:,.0f} bytes a game, {a_change:,.0f} bytes a revision that changes one entry")
    return [
        Figure(f"{kind}: bytes a revision to bytes a game", a_change / a_game),
        *(
            Figure(f"{kind}: {name} of one change to pulling everything", statistics.median(taken) / whole, GOAL)
            for name, taken in times.items()
        ),
    ]


def main() -> None:
    """Measure both databases and print one table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--games", type=int, default=100)
    options.add_argument("--revisions", type=int, default=1000)
    given = options.parse_args()
    figures = []
    with tempfile.TemporaryDirectory() as directory:
        files = (f"sqlite:///{directory}/mine.db", f"sqlite:///{directory}/theirs.db")
        figures += measure("SQLite", files, given.games, given.revisions)
    running: Server
    with server() as running:
        databases = running.create_database(), running.create_database()
        figures += measure("Postgres", databases, given.games, given.revisions)
        running.drop_databases()
    print(table(figures))


if __name__ == "__main__":
    main()
