"""The question that an engine is asked about a batch of encoded positions, for each engine in its own words.

Tables: `rule`, `answer` and `masked` of a compiled ruleset, `moving` and `standing` of the batch (see `encode`).
"""

from __future__ import annotations

from typing import Final

from ggn_store.columnar.compile import Compiled

# What engines write differently: the exclusive or of `{0}` and `{1}`.
DUCKDB: Final = "xor({0}, {1})"
SPARK: Final = "({0} ^ {1})"


def moves(compiled: Compiled, xor: str) -> str:
    """One row (position, possibility) for each possibility that holds, in no order."""
    return f"""
SELECT reached.position,
       CASE WHEN (answer.bit & reached.enemy) = 0 THEN answer.if_empty ELSE answer.if_enemy END AS possibility
FROM ({_reached(xor)}) AS reached
JOIN answer ON answer.key = {xor.format("reached.squares", "reached.salt")}
UNION ALL
{_masked(compiled, xor)}"""


def count_by(by: str, compiled: Compiled, xor: str) -> str:
    """One row (`by`, count) for each `position`, or `start`, that there is anything to look at for."""
    # What is reached need not be named to be counted: the answers are not read.
    return f"""
SELECT {by}, CAST(SUM(met) AS BIGINT) AS count
FROM (SELECT {by}, bit_count(squares) * each AS met FROM ({_reached(xor)}) AS reached
      UNION ALL
      SELECT {by}, 1 AS met FROM ({_masked(compiled, xor, by)}) AS held) AS parts
GROUP BY {by}"""


def count_by_possibility(compiled: Compiled, xor: str) -> str:
    """One row (possibility, count) for each possibility that holds somewhere."""
    return f"SELECT possibility, COUNT(*) AS count FROM ({moves(compiled, xor)}) AS held GROUP BY possibility"


def _reached(xor: str) -> str:
    """The squares that each rule reaches for each mover."""
    before = xor.format("blocked", "(blocked - 1)")
    return f"""
    SELECT position, start, enemy, each, salt,
           ((empty & quiet) | (enemy & capture)) & {before} AS squares
    FROM (SELECT moving.position, moving.start, moving.empty, moving.enemy, rule.quiet, rule.capture, rule.each,
                 rule.salt, (~moving.empty) & rule.ray AS blocked
          FROM moving JOIN rule ON rule.mover = moving.mover) AS pairs
"""


def _masked(compiled: Compiled, xor: str, column: str = "") -> str:
    """The possibilities of `masked` that hold."""
    failing = []
    for word in range(compiled.words):
        empty, enemy = f"standing.empty_{word}", f"standing.enemy_{word}"
        failing += [
            f"(masked.not_empty_{word} & {empty})",
            f"(masked.not_enemy_{word} & {enemy})",
            f"(masked.not_own_{word} & (~({empty} | {enemy})))",
        ]
    for word in range(compiled.names):
        named = f"standing.named_{word}"
        failing += [f"(masked.must_{word} & (~{named}))", f"(masked.deny_{word} & {named})"]
    twin = " | ".join(f"(masked.twin_{word} & standing.enemy_{word})" for word in range(compiled.words))
    chosen = f"CASE WHEN ({twin}) = 0 THEN masked.if_empty ELSE masked.if_enemy END AS possibility"
    return f"""
SELECT {f"standing.{column}" if column else f"standing.position, {chosen}"}
FROM standing JOIN masked ON masked.start = standing.start
WHERE ({" | ".join(failing)}) = 0
"""
