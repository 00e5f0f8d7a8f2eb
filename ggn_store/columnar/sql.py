"""The question that an engine is asked about a batch of encoded positions, for each engine in its own words.

What moves there are is asked in SQL that engines have in common, but for a few functions: with parentheses around each
`&` and `|`, no `^`, no `~`, and no minus that begins a term, which DataFusion spreads over the term. Words are signed,
and have 63 bits at most.

Tables: those of a compiled ruleset in `TABLES`, `moving` and `met` of the batch (see `encode`). For legal moves also
those of `threats`, and of the batch `facing`, `royal` and what else its duties ask for.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple


class SqlDialect(NamedTuple):
    """What engines write differently: how table `{0}` is in a directory `{1}`; of words the exclusive or, and, or."""

    file: str
    # Salts may be below 0, but the difference is always a word.
    xor: str = "(({0} | {1}) - ({0} & {1}))"
    both: str = "({0} & {1})"
    either: str = "({0} | {1})"


# Its own function takes 3 to 8 % off a question.
DUCKDB: Final = SqlDialect("CREATE VIEW {0} AS FROM '{1}/{0}.parquet'", "xor({0}, {1})")
DIALECTS: Final = {
    "duckdb": DUCKDB,
    "spark": SqlDialect("CREATE TEMPORARY VIEW {0} USING parquet OPTIONS (path '{1}/{0}.parquet')", "({0} ^ {1})"),
    "datafusion": SqlDialect("CREATE EXTERNAL TABLE {0} STORED AS PARQUET LOCATION '{1}/{0}.parquet'"),
    "polars": SqlDialect("CREATE TABLE {0} AS SELECT * FROM read_parquet('{1}/{0}.parquet')"),
    "clickhouse": SqlDialect(
        "CREATE VIEW {0} AS SELECT * FROM file('{1}/{0}.parquet')",
        "bitXor({0}, {1})",
        "bitAnd({0}, {1})",
        "bitOr({0}, {1})",
    ),
}
# Duties by what they ask: attacks after a move, of one royal piece among several, how many there are, the next ply.
SAFE: Final = frozenset(("royal-safety", "flying-general"))
SEVERAL: Final = frozenset(("spare-royal", "duple-check"))
LIMITS: Final = frozenset(("promotion-limit", "royal-promotion-limit"))
AHEAD: Final = frozenset(("no-checks", "no-drop-checks", "no-drop-mate", "no-promotion-checks"))
CAPTURES: Final = "mandatory-capture"
# The tables of a ruleset that questions read, and those of positions that all questions read.
TABLES: Final = ("lane", "part", "answer", "alternative")
BATCH: Final = ("moving", "met")


def moves(dialect: SqlDialect = DUCKDB) -> str:
    """One row (position, possibility) for each possibility that holds, in no order."""
    found = dialect.both.format("reached.targets", "part.targets")
    return f"""
SELECT reached.position, answer.possibility
FROM ({_reached("moving", dialect=dialect)}) AS reached
JOIN part ON part.lane = reached.lane
JOIN answer ON answer.key = {dialect.xor.format(found, "part.salt")}
WHERE {found} <> 0
UNION ALL
SELECT reached.position, alternative.possibility
FROM ({_reached("met", "bit, piece, ", dialect)}) AS reached
JOIN alternative ON alternative.lane = reached.lane AND alternative.bit = reached.bit
     AND alternative.piece = reached.piece
WHERE {dialect.both.format("reached.targets", "reached.bit")} <> 0"""


def explained(dialect: SqlDialect, ruleset: str) -> str:
    """`moves` below a comment that says of what files its tables are."""
    tables = "\n".join(f"-- {dialect.file.format(name, 'DIRECTORY')};" for name in (*TABLES, *BATCH))
    return f"""\
-- The moves of {ruleset}: a row for each position (its number in the file, from 0) and possibility, in no order.
-- Join possibility.parquet for the piece, source, destination and ordinal of a possibility.
-- The tables are files that `ggn-store compile {ruleset} --positions FILE -o DIRECTORY` writes:
{tables}
{moves(dialect).lstrip()}
"""


def count_by(by: str) -> str:
    """One row (`by`, count) for each `position`, or `start`, that there is anything to look at for."""
    # What is reached need not be named to be counted: the answers are not read.
    return f"""
SELECT {by}, CAST(SUM(bit_count(targets) * each) AS BIGINT) AS count
FROM ({_reached("moving")}) AS reached
GROUP BY {by}"""


def count_found(by: str, moves: str) -> str:
    """One row (`by`, count) for each `position`, or `possibility`, that moves are found of."""
    return f"SELECT {by}, COUNT(*) AS count FROM ({moves}) AS held GROUP BY {by}"


def legal_moves(gives: int | None, duties: Collection[str], goes_on: bool) -> str:
    """As `moves`, without those that duties forbid; no trial makes more bits true, and None: nothing is tried.

    Where captures go on, `continued` has them, as `chains.continued` says.
    """
    passing = "UNION ALL SELECT position, possibility FROM passing" if "pass" in duties else ""
    named = [f"move AS MATERIALIZED ({moves()}\n{passing})"]
    illegal = []
    if gives is not None:
        named += _attacked(gives, "TRUE" if not SAFE.isdisjoint(duties) else "FALSE")
        illegal.append(_left(duties))
    if not LIMITS.isdisjoint(duties):
        illegal.append(_PROMOTED)
    if not AHEAD.isdisjoint(duties):
        illegal.append("SELECT position, possibility FROM barred")
    found = "move"
    if illegal:
        named += [f"illegal AS ({' UNION ALL '.join(illegal)})", f"allowed AS MATERIALIZED ({_ALLOWED})"]
        found = "allowed"
    for duty, (name, preferred) in _PREFERRED.items():
        if duty in duties:
            preferred += _CHAINS * (goes_on and duty == CAPTURES)
            named.append(f"{name} AS MATERIALIZED ({preferred.format(found)})")
            named.append(
                f"{name}_first AS MATERIALIZED (SELECT position, possibility FROM {name} "
                f"UNION ALL SELECT position, possibility FROM {found} WHERE NOT EXISTS "
                f"(SELECT 1 FROM {name} WHERE {name}.position = {found}.position))"
            )
            found = f"{name}_first"
    if goes_on:
        named.append(f"ended AS ({_ENDED.format(found)})")
        found = "ended"
    return f"\nWITH {', '.join(named)}\nSELECT position, possibility FROM {found}"


def steps() -> str:
    """One row (position, possibility, takes) for each step of a chain that is possible, and whether it captures."""
    return f"""
SELECT move.position, move.possibility, COUNT(enemy.square) > 0 AS takes
FROM ({moves()}) AS move
JOIN chained ON chained.possibility = move.possibility
LEFT JOIN takes ON takes.possibility = move.possibility
LEFT JOIN enemy ON enemy.position = move.position AND enemy.square = takes.place
GROUP BY move.position, move.possibility"""


def ahead(duties: Collection[str]) -> str:
    """One row (position, possibility, mates) for each possibility that holds and of which the next ply is asked."""
    passing = "UNION ALL SELECT position, possibility FROM passing" if "pass" in duties else ""
    return f"""
SELECT position, move.possibility, mates
FROM ({moves()}
{passing}) AS move
JOIN ahead ON ahead.possibility = move.possibility"""


# One row (position) for each position in which a royal piece of the side to move is attacked.
CHECKED: Final = """
SELECT DISTINCT facing.position
FROM facing
JOIN royal ON royal.position = facing.position
JOIN threat ON threat.sight = facing.sight AND threat.aim = royal.square AND threat.royal = royal.royal
WHERE threat.needs & ~facing.word = 0"""

_ALLOWED: Final = """
SELECT position, possibility
FROM move
WHERE NOT EXISTS (
    SELECT 1 FROM illegal WHERE illegal.position = move.position AND illegal.possibility = move.possibility
)"""

# More pieces of a kind than a promotion may add to.
_PROMOTED: Final = """
SELECT move.position, move.possibility
FROM move
JOIN promotion ON promotion.possibility = move.possibility
LEFT JOIN (
    SELECT position, kind, COUNT(*) AS count FROM standing GROUP BY position, kind
) AS there ON there.position = move.position AND there.kind = promotion.kind
WHERE COALESCE(count, 0) >= most"""

# What has to be made where there is any of it, in this order: a name for it, and its moves among others.
_PREFERRED: Final = {
    "mandatory-drop": (
        "dropping",
        "SELECT position, found.possibility FROM {0} AS found JOIN dropped ON dropped.possibility = found.possibility",
    ),
    "mandatory-capture": (
        "taking",
        "SELECT DISTINCT found.position, found.possibility FROM {0} AS found "
        "JOIN takes ON takes.possibility = found.possibility "
        "JOIN enemy ON enemy.position = found.position AND enemy.square = takes.place",
    ),
}

# A chain that captures is preferred, too, and is no single move.
_CHAINS: Final = " UNION ALL SELECT position, possibility FROM continued WHERE possibility < 0"
_ENDED: Final = """
SELECT position, possibility
FROM {0}
WHERE NOT EXISTS (
    SELECT 1 FROM continued WHERE continued.position = {0}.position AND continued.possibility = {0}.possibility
)"""

# One row (position) for each position in which an enemy can be taken.
_FORCED: Final = """
SELECT DISTINCT move.position
FROM ({0}) AS move
JOIN takes ON takes.possibility = move.possibility
JOIN enemy ON enemy.position = move.position AND enemy.square = takes.place"""


def forced() -> str:
    """One row (position) for each position in which a single move, legal or not, captures."""
    return _FORCED.format(moves())


def dropping() -> str:
    """One row (position) for each position in which something can be dropped, legally or not."""
    return (
        f"SELECT DISTINCT found.position FROM ({moves()}) AS found "
        "JOIN dropped ON dropped.possibility = found.possibility"
    )


def _left(duties: Collection[str]) -> str:
    """The moves after which too many royal pieces are attacked, or one that has to stay as it is."""
    found = "SELECT DISTINCT position, possibility, trial, aim FROM attacked"
    if SEVERAL.isdisjoint(duties):
        return f"SELECT position, possibility FROM ({found}) AS held"
    enough = "2 >" if "spare-royal" in duties else "attacked >="
    return f"""
    SELECT held.position, possibility
    FROM (SELECT position, possibility, trial, COUNT(*) AS attacked FROM ({found}) AS apart
          GROUP BY position, possibility, trial) AS held
    LEFT JOIN made ON made.trial = held.trial
    LEFT JOIN royal ON royal.position = held.position
    LEFT JOIN change ON change.trial = held.trial AND change.place = royal.square
    GROUP BY held.position, possibility, held.trial, attacked, made
    HAVING made IS NULL OR {enough} COUNT(royal.square) - COUNT(change.place) + made"""


def _attacked(gives: int, is_safe: str) -> list[str]:
    """What is attacked in trials of moves, in named parts.

    A threat lacks some bits of its sight's word. A trial that can make it hold changes what these are about; where
    none is lacking, it is the trial that has to change something. What stands where the trial leaves it says the rest.
    """
    threats = "threat.sight, threat.source, threat.needs, facing.word, threat.needs & ~facing.word AS lacks"
    return [
        f"""tried AS (
    SELECT position, possibility, possibility AS trial FROM move WHERE {is_safe}
    UNION ALL
    SELECT position, entering.possibility, trial FROM move JOIN entering ON entering.possibility = move.possibility
)""",
        f"""near AS MATERIALIZED (
    SELECT facing.position, threat.aim, {threats}
    FROM facing
    JOIN royal ON royal.position = facing.position
    JOIN threat ON threat.sight = facing.sight AND threat.aim = royal.square AND threat.royal = royal.royal
    WHERE bit_count(threat.needs & ~facing.word) <= {gives}
)""",
        """beside AS MATERIALIZED (
    SELECT near.*, possibility, trial FROM near JOIN tried ON tried.position = near.position
)""",
        f"""candidate AS (
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
)""",
        """attacked AS (
    SELECT position, possibility, candidate.trial, aim
    FROM candidate
    LEFT JOIN change ON change.trial = candidate.trial
    LEFT JOIN about ON about.sight = candidate.sight AND about.place = change.place AND about.content = change.content
    GROUP BY position, possibility, candidate.trial, stays, aim, candidate.sight, source, needs, word
    HAVING needs & ~((word & ~COALESCE(bit_or(touched), 0)) | COALESCE(bit_or(holding), 0)) = 0
       AND COUNT(CASE WHEN change.place = source OR change.place = stays THEN 1 END) = 0
)""",
    ]


def _reached(asked: str, columns: str = "", dialect: SqlDialect = DUCKDB) -> str:
    """The targets that are reached in each lane, with other columns of what is asked."""
    both, either = dialect.both.format, dialect.either.format
    targets = both("reachable", dialect.xor.format("opened", "(opened + first)"))
    return f"""
    SELECT {columns}position, lane, start, each, {targets} AS targets
    FROM (SELECT {columns}position, lane.lane AS lane, start, each, first, {both("word", "lane.target")} AS reachable,
                 {either(both("word", "path"), "passed")} AS opened
          FROM {asked} JOIN lane ON lane.lane = {asked}.lane) AS words
"""
