"""Concepts: what a ruleset has and how much of it, each with a definition and the SQL that finds it.

They are in `concepts.txt` beside this. Each is a column of v_concepts, which a migration makes in a way that is
faster; tests hold the two against each other. Read for `--help` like `views`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ggn_store.model.moves.play import DUTIES, OUTCOMES, PREFERENCES, When

QUERY: Final = (
    "SELECT r.ruleset, {expression} AS {name} FROM v_rulesets r "
    "LEFT JOIN v_pieces p ON p.ruleset = r.ruleset LEFT JOIN piece_summary s ON s.piece_id = p.piece_id "
    "GROUP BY r.ruleset"
)


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept; its SQL is an expression of the rows that `QUERY` joins.

    Games agree in one that is a size (`is_size`) where it is equal, and in any other where both have it.
    """

    name: str
    type: Literal["integer", "boolean"]
    meaning: str
    sql: str
    is_size: bool = False

    @property
    def query(self) -> str:
        """The statement that finds it in the newest revisions."""
        return QUERY.format(expression=self.sql, name=self.name)


# A view of a server is replaced in place, which takes new columns at its end only.
_LATER: Final[tuple[When, ...]] = ("connection",)
_IN: Final = "r.ruleset IN (SELECT x.ruleset FROM {} x WHERE {})"
# Whoever has one piece left has a bare king, too.
_BARE: Final = "x.decided_by = 'bare' OR x.decided_by = 'extinct' AND x.count = 1 AND x.pieces IS NULL"
_WORDS: Final = {
    "{squares}": "SELECT count(*) FROM v_squares x WHERE x.ruleset = r.ruleset",
    "{captures}": "p.displacing + p.elsewhere + p.by_another + p.either",
}


def _duties() -> Iterator[Concept]:
    for name, meaning in DUTIES.items():
        # What says of moves which of them come first, or how royal-safety is asked, is in v_duties alone.
        if name not in (*PREFERENCES, "blast-safety"):
            sql = _IN.format("v_duties", f"x.duty = '{name}'")
            yield Concept(name.replace("-", "_"), "boolean", f"whether it is a duty that {meaning}", sql)


def _end(when: When) -> Concept:
    meaning = f"whether it may end so: {OUTCOMES[when].reason.format(count='n')}"
    ends = _BARE if when == "bare" else f"x.decided_by = '{when}'"
    return Concept(f"ends_by_{when.replace('-', '_')}", "boolean", meaning, _IN.format("v_outcomes", ends))


def _read() -> Iterator[Concept]:
    """The concepts of the file, with those that are made of what a game may declare."""
    ends = [_end(when) for when in OUTCOMES if when not in _LATER]
    made = {"duties": [*_duties()], "ends": ends, "later": [*map(_end, _LATER)]}
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    for line in (each for each in lines if not each.startswith("#")):
        said, _, sql = line.partition(" | ")
        for word, meant in _WORDS.items():
            sql = sql.replace(word, meant)
        key, _, meaning = said.partition(": ")
        match key.split():
            case ["pieces", name]:
                yield Concept(name, "integer", f"how many pieces {meaning}", f"count(*) FILTER (WHERE {sql})")
            case ["size", name]:
                yield Concept(name, "integer", meaning, sql, is_size=True)
            case [("integer" | "boolean") as kind, name]:
                yield Concept(name, kind, meaning, sql)
            case [group]:
                yield from made[group]


CONCEPTS: Final = tuple(_read())
SIZES: Final = frozenset(each.name for each in CONCEPTS if each.is_size)
