"""A function that is kept in Postgres."""

from __future__ import annotations

from dataclasses import dataclass

# Nobody has told the planner yet how many rows a piece has that is only just stored: it would go through all of its
# conditions for each possibility.
MANY_ROWS = ("enable_nestloop = off", "jit = off", "work_mem = '64MB'")

# How far the clock of whoever writes a revision may be ahead of the server's.
CLOCKS_DIFFER = "1 day"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of plpgsql, which runs with the rights of the tables' owner where it is a `definer`."""

    name: str
    body: str
    arguments: str = ""
    returns: str = "trigger"
    is_definer: bool = False
    may_call: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The name with the types of the arguments."""
        return f"{self.name}({self.arguments})"
