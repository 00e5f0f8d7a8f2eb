"""The question that an engine is asked about a batch of encoded positions, for each engine in its own words.

Tables: those of a compiled ruleset in `TABLES`, `moving` and `met` of the batch (see `encode`).
"""

from __future__ import annotations

from typing import Final

# What engines write differently: the exclusive or of `{0}` and `{1}`.
DUCKDB: Final = "xor({0}, {1})"
SPARK: Final = "({0} ^ {1})"
# The tables of a ruleset that questions read.
TABLES: Final = ("lane", "part", "answer", "alternative")


def moves(xor: str) -> str:
    """One row (position, possibility) for each possibility that holds, in no order."""
    return f"""
SELECT reached.position, answer.possibility
FROM ({_reached("moving", xor)}) AS reached
JOIN part ON part.lane = reached.lane
JOIN answer ON answer.key = {xor.format("(reached.targets & part.targets)", "part.salt")}
WHERE (reached.targets & part.targets) <> 0
UNION ALL
SELECT reached.position, alternative.possibility
FROM ({_reached("met", xor, "bit, piece, ")}) AS reached
JOIN alternative ON alternative.lane = reached.lane AND alternative.bit = reached.bit
     AND alternative.piece = reached.piece
WHERE (reached.targets & reached.bit) <> 0"""


def count_by(by: str, xor: str) -> str:
    """One row (`by`, count) for each `position`, or `start`, that there is anything to look at for."""
    # What is reached need not be named to be counted: the answers are not read.
    return f"""
SELECT {by}, CAST(SUM(bit_count(targets) * each) AS BIGINT) AS count
FROM ({_reached("moving", xor)}) AS reached
GROUP BY {by}"""


def count_by_possibility(xor: str) -> str:
    """One row (possibility, count) for each possibility that holds somewhere."""
    return f"SELECT possibility, COUNT(*) AS count FROM ({moves(xor)}) AS held GROUP BY possibility"


def _reached(asked: str, xor: str, columns: str = "") -> str:
    """The targets that are reached in each lane, with other columns of what is asked."""
    return f"""
    SELECT {columns}position, lane, start, each, reachable & {xor.format("opened", "(opened + first)")} AS targets
    FROM (SELECT {columns}position, lane.lane, start, each, first, word & lane.target AS reachable,
                 (word & path) | passed AS opened
          FROM {asked} JOIN lane ON lane.lane = {asked}.lane) AS words
"""
