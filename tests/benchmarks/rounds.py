"""Rounds of several works in alternation, so that what else the machine does meets all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a table: a ratio, and the goal that it is held to (`at_least`: larger is better)."""

    name: str
    ratio: float
    goal: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the goal is met; nothing where there is none."""
        if self.goal is None:
            return ""
        return "met" if (self.ratio >= self.goal if self.at_least else self.ratio <= self.goal) else "missed"


def seconds(work: Callable[[], object]) -> float:
    """How long `work` takes; what others have left for the garbage collector is collected before."""
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def medians(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median time of each work over the rounds; a round has each of them once, in turn."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    return {name: statistics.median(taken) for name, taken in times.items()}


def table(figures: list[Figure]) -> str:
    """The figures as a Markdown table."""
    lines = ["| figure | measured | goal | |", "|---|---|---|---|"]
    for each in figures:
        goal = "" if each.goal is None else f"{'>=' if each.at_least else '<='} {each.goal:g}"
        digits = 2 if each.ratio >= 0.1 else 4
        lines.append(
            f"| {each.name} | {each.ratio:.{digits}f} | {goal} | {' '.join(filter(None, (each.verdict, each.note)))} |"
        )
    return "\n".join(lines)
