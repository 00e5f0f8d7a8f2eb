"""What engines on columns are asked, whatever they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ggn_store.columnar import sql
from ggn_store.columnar.encode import Batch
from ggn_store.columnar.threats import Threats


class Engine(ABC):
    """The tables of a compiled ruleset in an engine, and its SQL.

    That is how it writes the exclusive or, and what a question names to be read several times. What is asked with
    `threats` is about legal moves, of a batch that is encoded with them.
    """

    def __init__(self, xor: str, kept: str) -> None:
        self._xor = xor
        self._kept = kept
        self._threats: Threats | None = None

    def moves(self, batch: Batch, threats: Threats | None = None) -> Any:
        """An Arrow table (position, possibility) of what holds, in no order."""
        return self._ask(self._moves(threats), batch)

    def count_by_position(self, batch: Batch, threats: Threats | None = None) -> Any:
        """An Arrow table (position, count); positions without moves may be left out."""
        if threats is not None and threats.sights:
            return self._ask(sql.count_found("position", self._moves(threats)), batch)
        return self._ask(sql.count_by("position", self._xor), batch)

    def count_by_start(self, batch: Batch) -> Any:
        """An Arrow table (start, count)."""
        return self._ask(sql.count_by("start", self._xor), batch)

    def count_by_possibility(self, batch: Batch, threats: Threats | None = None) -> Any:
        """An Arrow table (possibility, count)."""
        return self._ask(sql.count_found("possibility", self._moves(threats)), batch)

    def explain(self, batch: Batch, threats: Threats | None = None) -> tuple[str, str]:
        """What is asked for `moves`, and the engine's plan."""
        question = self._moves(threats)
        return question.strip(), "\n".join(self._ask(f"EXPLAIN {question}", batch).columns[-1].to_pylist())

    def _moves(self, threats: Threats | None) -> str:
        if threats is None or not threats.sights:
            return sql.moves(self._xor)
        if self._threats is not threats:
            self._load(threats.tables)
            self._threats = threats
        return sql.legal_moves(self._xor, self._kept, threats.gives)

    @abstractmethod
    def _load(self, tables: Mapping[str, Any]) -> None:
        """Make tables of a ruleset, by their names."""

    @abstractmethod
    def _ask(self, question: str, batch: Batch) -> Any:
        """An Arrow table of the answer to `question`, asked of the engine."""
