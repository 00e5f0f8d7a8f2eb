"""What engines on columns are asked, whatever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ggn_store.columnar import sql
from ggn_store.columnar.encode import Batch


class Engine(ABC):
    """The tables of a compiled ruleset in an engine, and its SQL: how it writes the exclusive or."""

    def __init__(self, xor: str) -> None:
        self._xor = xor

    def moves(self, batch: Batch) -> Any:
        """An Arrow table (position, possibility) of what holds, in no order."""
        return self._ask(sql.moves(self._xor), batch)

    def count_by_position(self, batch: Batch) -> Any:
        """An Arrow table (position, count); positions without moves may be left out."""
        return self._ask(sql.count_by("position", self._xor), batch)

    def count_by_start(self, batch: Batch) -> Any:
        """An Arrow table (start, count)."""
        return self._ask(sql.count_by("start", self._xor), batch)

    def count_by_possibility(self, batch: Batch) -> Any:
        """An Arrow table (possibility, count)."""
        return self._ask(sql.count_by_possibility(self._xor), batch)

    def explain(self, batch: Batch) -> tuple[str, str]:
        """What is asked for `moves`, and the engine's plan."""
        question = sql.moves(self._xor)
        return question.strip(), "\n".join(self._ask(f"EXPLAIN {question}", batch).columns[-1].to_pylist())

    @abstractmethod
    def _ask(self, question: str, batch: Batch) -> Any:
        """An Arrow table of the answer to `question`, asked of the engine."""
