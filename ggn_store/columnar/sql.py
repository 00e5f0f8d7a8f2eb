"""The question that an engine is asked about a batch of encoded positions, for each engine in its own words.

Tables: those of a compiled ruleset in `TABLES`, `moving` and `standing` of the batch (see `encode`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ggn_store.columnar.compile import Compiled

# What engines write differently: the exclusive or of `{0}` and `{1}`.
DUCKDB: Final = "xor({0}, {1})"
SPARK: Final = "({0} ^ {1})"
# The tables of a ruleset that questions read.
TABLES: Final = ("lane", "part", "answer", "masked")


def moves(compiled: Compiled, xor: str) -> str:
    """One row (position, possibility) for each possibility that holds, in no order."""
    return f"""
SELECT reached.position,
       CASE WHEN (answer.bit & reached.enemy) = 0 THEN answer.if_empty ELSE answer.if_enemy END AS possibility
FROM ({_reached(xor)}) AS reached
JOIN part ON part.lane = reached.lane
JOIN answer ON answer.key = {xor.format("(reached.squares & part.squares)", "part.salt")}
WHERE (reached.squares & part.squares) <> 0
UNION ALL
{_masked(compiled, "position, masked.possibility")}"""


def count_by(by: str, compiled: Compiled, xor: str) -> str:
    """One row (`by`, count) for each `position`, or `start`, that there is anything to look at for."""
    # What is reached need not be named to be counted: the answers are not read.
    return f"""
SELECT {by}, CAST(SUM(met) AS BIGINT) AS count
FROM (SELECT {by}, bit_count(squares) * each AS met FROM ({_reached(xor)}) AS reached
      UNION ALL
      SELECT {by}, 1 AS met FROM ({_masked(compiled, by)}) AS held) AS parts
GROUP BY {by}"""


def count_by_possibility(compiled: Compiled, xor: str) -> str:
    """One row (possibility, count) for each possibility that holds somewhere."""
    return f"SELECT possibility, COUNT(*) AS count FROM ({moves(compiled, xor)}) AS held GROUP BY possibility"


def _reached(xor: str) -> str:
    """The squares that are reached in each lane."""
    before = xor.format("blocked", "(blocked - first)")
    return f"""
    SELECT position, start, lane, enemy, each,
           ((empty & quiet) | (enemy & capture)) & ({before} | free) AS squares
    FROM (SELECT moving.position, moving.empty, moving.enemy, lane.lane, lane.start, lane.quiet, lane.capture,
                 lane.first, lane.free, lane.each, ((~moving.empty) & lane.ray) | lane.stop AS blocked
          FROM moving JOIN lane ON lane.lane = moving.lane) AS pairs
"""


def _masked(compiled: Compiled, columns: str) -> str:
    """Columns of the possibilities of `masked` that hold."""
    failing = ["CAST(0 AS BIGINT)"]
    for word in range(compiled.facts):
        held = f"standing.held_{word}"
        failing += [f"(masked.must_{word} & (~{held}))", f"(masked.deny_{word} & {held})"]
    return f"""
SELECT standing.{columns}
FROM standing JOIN masked ON masked.start = standing.start
WHERE {_any(failing)} = 0
"""


def _any(masks: Sequence[str]) -> str:
    """The union of masks: a tree of them, since engines read only so many that are nested into each other."""
    middle = len(masks) // 2
    return f"({_any(masks[:middle])} | {_any(masks[middle:])})" if middle else masks[0]
