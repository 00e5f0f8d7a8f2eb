"""The question that an engine is asked about a batch of encoded positions, for each engine in its own words.

Tables: those of a compiled ruleset in `TABLES`, `moving` and `met` of the batch (see `encode`). For legal moves also
those of `threats`, `facing` and `royal`.
"""

from __future__ import annotations

from typing import Final

# What engines write differently: the exclusive or of `{0}` and `{1}`.
DUCKDB: Final = "xor({0}, {1})"
SPARK: Final = "({0} ^ {1})"
# How engines are asked to make what several parts of a question read only once, where they can be.
KEPT: Final = "AS MATERIALIZED"
FOLLOWED: Final = "AS"
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


def count_found(by: str, moves: str) -> str:
    """One row (`by`, count) for each `position`, or `possibility`, that moves are found of."""
    return f"SELECT {by}, COUNT(*) AS count FROM ({moves}) AS held GROUP BY {by}"


def legal_moves(xor: str, kept: str, gives: int) -> str:
    """As `moves`, without those after which a threat on a royal piece holds; no trial makes more bits true.

    A threat lacks some bits of its sight's word. A trial that can make it hold changes what these are about; where
    none is lacking, it is the trial that has to change something. What stands where the trial leaves it says the rest.
    """
    threats = "threat.sight, threat.source, threat.needs, facing.word, threat.needs & ~facing.word AS lacks"
    return f"""
WITH move {kept} ({moves(xor)}
), tried AS (
    SELECT position, possibility, possibility AS trial FROM move
    UNION ALL
    SELECT position, entering.possibility, trial FROM move JOIN entering ON entering.possibility = move.possibility
), near {kept} (
    SELECT facing.position, threat.aim, {threats}
    FROM facing
    JOIN royal ON royal.position = facing.position
    JOIN threat ON threat.sight = facing.sight AND threat.aim = royal.square AND threat.royal = royal.royal
    WHERE bit_count(threat.needs & ~facing.word) <= {gives}
), beside {kept} (
    SELECT near.*, possibility, trial FROM near JOIN tried ON tried.position = near.position
), candidate AS (
    SELECT position, possibility, trial, aim AS stays, aim, sight, source, needs, word
    FROM beside
    WHERE lacks = 0
    UNION ALL
    SELECT position, possibility, beside.trial, aim, aim, beside.sight, source, needs, word
    FROM beside
    JOIN lack ON lack.sight = beside.sight AND lack.bit = (beside.lacks & -beside.lacks)
    JOIN change ON change.trial = beside.trial AND change.place = lack.place
    WHERE bit_count(lacks) <= gives
    UNION ALL
    SELECT position, possibility, trial, -1, aim, sight, source, needs, word
    FROM (
        SELECT facing.position, aimed.possibility, trial, aimed.aim, gives, {threats}
        FROM (SELECT position, aim.* FROM move JOIN aim ON aim.possibility = move.possibility) AS aimed
        JOIN facing ON facing.position = aimed.position
        JOIN threat ON threat.sight = facing.sight AND threat.aim = aimed.aim AND threat.royal = aimed.royal
    ) AS threatening
    WHERE bit_count(lacks) <= gives
), illegal AS (
    SELECT position, possibility
    FROM candidate
    LEFT JOIN change ON change.trial = candidate.trial
    LEFT JOIN about ON about.sight = candidate.sight AND about.place = change.place AND about.content = change.content
    GROUP BY position, possibility, candidate.trial, stays, aim, candidate.sight, source, needs, word
    HAVING needs & ~((word & ~COALESCE(bit_or(touched), 0)) | COALESCE(bit_or(holding), 0)) = 0
       AND COUNT(CASE WHEN change.place = source OR change.place = stays THEN 1 END) = 0
)
SELECT position, possibility
FROM move
WHERE NOT EXISTS (
    SELECT 1 FROM illegal WHERE illegal.position = move.position AND illegal.possibility = move.possibility
)"""


def _reached(asked: str, xor: str, columns: str = "") -> str:
    """The targets that are reached in each lane, with other columns of what is asked."""
    return f"""
    SELECT {columns}position, lane, start, each, reachable & {xor.format("opened", "(opened + first)")} AS targets
    FROM (SELECT {columns}position, lane.lane, start, each, first, word & lane.target AS reachable,
                 (word & path) | passed AS opened
          FROM {asked} JOIN lane ON lane.lane = {asked}.lane) AS words
"""
