"""How much slower questions to the views are than the same ones to the tables, in a store of a hundred games.

    python -m tests.benchmarks.views                        both databases, five minutes to load the games
    python -m tests.benchmarks.views --store ADDRESS        a store that is there

The yardstick is a query on the tables by somebody who knows them, for the same rows in the same columns. Rounds
alternate, and answers that differ end it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import text

from ggn_store import Store
from ggn_store.games import library
from tests.benchmarks.rounds import Figure, medians, table
from tests.support.postgres import server

GOAL = 3

_COLUMNS = """
SELECT ruleset.name, revision.number, piece.identifier, piece.side, coalesce(f.label, '*'), coalesce(g.label, '*'),
       variant.ordinal, condition.state, variant.toggle, source.square IS NULL, piece.id, variant.number,
       origin.action, origin.step, origin.chainable
"""
_POSSIBILITIES = """
JOIN source ON source.piece_id = piece.id
LEFT JOIN square f ON f.board_id = piece.board_id AND f.number = source.square
JOIN destination ON destination.piece_id = piece.id AND destination.source = source.ordinal
LEFT JOIN square g ON g.board_id = piece.board_id AND g.number = destination.square
JOIN variant ON variant.piece_id = piece.id AND variant.source = source.ordinal
            AND variant.destination = destination.ordinal
LEFT JOIN condition ON condition.piece_id = piece.id AND condition.variant = variant.number
                   AND condition.polarity = 'must' AND condition.square = destination.square
LEFT JOIN variant_origin origin ON origin.piece_id = piece.id AND origin.variant = variant.number
"""
_SHOWN = """
ruleset.deleted_at IS NULL
AND NOT EXISTS (SELECT 1 FROM revision later WHERE later.ruleset_id = ruleset.id AND later.number > revision.number)
"""
_BY_PIECE = f"""
{_COLUMNS} FROM piece JOIN revision_piece ON revision_piece.piece_id = piece.id
JOIN revision ON revision.id = revision_piece.revision_id JOIN ruleset ON ruleset.id = revision.ruleset_id
{_POSSIBILITIES} WHERE {_SHOWN}
"""
_BY_RULESET = f"""
{_COLUMNS} FROM ruleset JOIN revision ON revision.ruleset_id = ruleset.id
JOIN revision_piece ON revision_piece.revision_id = revision.id JOIN piece ON piece.id = revision_piece.piece_id
{_POSSIBILITIES} WHERE {_SHOWN}
"""
_BY_SQUARE = f"""
{_COLUMNS} FROM piece JOIN revision_piece ON revision_piece.piece_id = piece.id
JOIN revision ON revision.id = revision_piece.revision_id JOIN ruleset ON ruleset.id = revision.ruleset_id
JOIN square start ON start.board_id = piece.board_id AND start.label = 'e4'
{_POSSIBILITIES.replace("source.piece_id = piece.id", "source.piece_id = piece.id AND source.square = start.number")}
WHERE {_SHOWN}
"""

# What is asked, of the view and of the tables; the first is the one that is held to a goal.
QUESTIONS: dict[str, tuple[str, str]] = {
    "piece = 'C:N'": ("SELECT * FROM v_moves WHERE piece = 'C:N'", f"{_BY_PIECE} AND piece.identifier = 'C:N'"),
    "piece = 'S:+B'": (
        "SELECT * FROM v_moves WHERE piece = 'S:+B'",
        f"{_BY_PIECE} AND piece.identifier = 'S:+B'",
    ),
    "piece = 'C:N' of chess": (
        "SELECT * FROM v_moves WHERE ruleset = 'chess' AND piece = 'C:N'",
        f"{_BY_RULESET} AND ruleset.name = 'chess' AND piece.identifier = 'C:N'",
    ),
    "all of chess": (
        "SELECT * FROM v_moves WHERE ruleset = 'chess'",
        f"{_BY_RULESET} AND ruleset.name = 'chess'",
    ),
    "source = 'e4'": ("SELECT * FROM v_moves WHERE source = 'e4'", _BY_SQUARE),
}


def measure(store: Store, rounds: int) -> list[Figure]:
    """The time of each question to the view, x the time of the same to the tables."""
    figures = []
    with store.session.database.reading() as connection:

        def ask(query: str) -> list[Any]:
            return [tuple(row) for row in connection.execute(text(query))]

        for name, (view, tables) in QUESTIONS.items():
            found = sorted(map(str, ask(view)))
            if found != sorted(map(str, ask(tables))):
                raise SystemExit(f"not the same rows: {name}")
            works: dict[str, Callable[[], object]] = {
                "view": lambda view=view: ask(view),  # type: ignore[misc]
                "tables": lambda tables=tables: ask(tables),  # type: ignore[misc]
            }
            taken = medians(works, rounds)
            note = f"{len(found):,} rows in {taken['view'] * 1000:,.0f} ms"
            figures.append(
                Figure(
                    f"v_moves, {name}, {store.session.database.name}", taken["view"] / taken["tables"], GOAL, note=note
                )
            )
    return figures


@contextmanager
def filled(address: str, count: int) -> Iterator[Store]:
    """A store with so many games of the library, chess among them, and the database's statistics of them."""
    with Store.open(address, upgrade=True) as store:
        names = [*library.names(), *library.descriptions()]
        names.sort(key=lambda name: name not in ("chess", "shogi"))
        store.load_library(*names[:count])
        analyze(store)
        yield store


def analyze(store: Store) -> None:
    """Give a server the statistics that it otherwise makes by itself, at some time."""
    if store.session.database.is_server:
        with store.session.database.writing() as connection:
            connection.execute(text("ANALYZE"))


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.views", description="See the module's text.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--store", action="append", metavar="ADDRESS", default=[])
    options = parser.parse_args(arguments)
    figures: list[Figure] = []
    for address in options.store:
        with Store.open(address, create=False) as store:
            figures += measure(store, options.rounds)
    if not options.store:
        with (
            tempfile.TemporaryDirectory() as directory,
            filled(str(Path(directory) / "views.db"), options.games) as store,
        ):
            figures += measure(store, options.rounds)
        with server() as running, filled(running.create_database(), options.games) as store:
            figures += measure(store, options.rounds)
    print(table(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
