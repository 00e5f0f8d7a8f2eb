"""The table of faults that a run of the tests ends with."""

from __future__ import annotations

from collections import Counter
from typing import Any

PROPERTY = "faults"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many faults of which kinds each command got on each database, and how many of them it did not stand."""
    found = [
        properties[PROPERTY]
        for category in ("passed", "failed")
        for report in terminalreporter.stats.get(category, ())
        if PROPERTY in (properties := dict(report.user_properties))
    ]
    if not found:
        return
    terminalreporter.section("injected faults")
    total: Counter[str] = Counter()
    for command, database, counts, deviations in sorted(found):
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        terminalreporter.line(
            f"{command:<24} {database:<9} {sum(counts.values()):>6} {deviations:>3} deviations: {kinds}"
        )
        total += Counter({"faults": sum(counts.values()), "deviations": deviations})
    terminalreporter.line(f"{'in all':<34} {total['faults']:>6} {total['deviations']:>3} deviations")
