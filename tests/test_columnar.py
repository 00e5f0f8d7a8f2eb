"""The engines on columns give the answers of plain Python, of the store, and of python-chess."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ggn_store import Position, Ruleset, ruleset
from tests import reference
from tests.strategies import DIALECTS, Case, cases

pa = pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
np = pytest.importorskip("numpy")

UNHURRIED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
NAMES = ("piece", "source", "destination", "ordinal")


def keys(table: Any, count: int) -> list[list[reference.Key]]:
    """The moves of each position, in the table's order."""
    found: list[list[reference.Key]] = [[] for _ in range(count)]
    for row in table.to_pylist():
        found[row["position"]].append(tuple(row[name] for name in NAMES))
    return found


def counted(table: Any) -> dict[Any, int]:
    [by, _] = table.column_names
    return dict(zip(table[by].to_pylist(), table["count"].to_pylist(), strict=True))


def require_equal(rules: Ruleset, expected: list[list[reference.Key]], positions: Any, **options: Any) -> None:
    """Moves and counts are those expected."""
    assert keys(rules.moves_table(positions, **options), len(expected)) == expected
    assert counted(rules.count_moves(positions, **options)) == {at: len(moves) for at, moves in enumerate(expected)}
    moves = [move for each in expected for move in each]
    assert counted(rules.count_moves(positions, "piece", **options)) == Counter(move[0] for move in moves)
    assert counted(rules.count_moves(positions, "destination", **options)) == Counter(move[2] for move in moves)


def arrow(positions: list[Position]) -> dict[str, Any]:
    """The positions as the Arrow tables that `moves_table` takes; all with hands, or all without."""
    board = [(at, square, piece) for at, p in enumerate(positions) for square, piece in p.board.items()]
    held = [(at, piece, count) for at, p in enumerate(positions) for piece, count in (p.hands or {}).items()]

    def table(rows: list[Any], **types: Any) -> Any:
        columns = zip(*rows, strict=True) if rows else [[] for _ in types]
        return pa.table({name: pa.array(column, types[name]) for name, column in zip(types, columns, strict=True)})

    return {
        "positions": table(board, position=pa.int64(), square=pa.string(), piece=pa.string()),
        "sides": table([(at, p.side) for at, p in enumerate(positions)], position=pa.int64(), side=pa.string()),
        "hands": None
        if all(p.hands is None for p in positions)
        else table(held, position=pa.int64(), piece=pa.string(), count=pa.int64()),
    }


def compare(dialect: str, documents: int, repeatable: bool) -> None:
    @settings(UNHURRIED, max_examples=documents, derandomize=repeatable)
    @given(case=cases(dialect, 6))
    def agree(case: Case) -> None:
        rules = ruleset(case.document)
        positions = [Position(board, hands, side) for board, hands, side in case.positions]
        expected = [reference.moves(case.document, *each) for each in case.positions]
        require_equal(rules, expected, positions)
        for is_known in (False, True):
            some = [at for at, position in enumerate(positions) if (position.hands is not None) == is_known]
            if some:
                require_equal(rules, [expected[at] for at in some], **arrow([positions[at] for at in some]))

    agree()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_duckdb_and_plain_python_agree(dialect: str) -> None:
    compare(dialect, 25, repeatable=True)


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_duckdb_and_plain_python_agree_on_many_documents(dialect: str) -> None:
    compare(dialect, 2000, repeatable=False)
