"""Everything that can be said of a specification: what is wrong, what no database can hold, what is suspicious."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ggn_store import limits
from ggn_store.errors import SpecificationError, SpecificationProblem
from ggn_store.gdl import reader
from ggn_store.gdl.complaints import Complaint, TooManyError
from ggn_store.gdl.domains import Domains, Unbounded, domains_of
from ggn_store.gdl.expressions import start_of
from ggn_store.gdl.finding import Finding
from ggn_store.gdl.findings import findings
from ggn_store.gdl.reader import Reader
from ggn_store.gdl.specification import Specification
from ggn_store.gdl.types.check import check as check_types
from ggn_store.gdl.types.typed import Uses


@dataclass(frozen=True, slots=True)
class SpecificationCheck:
    """The specification where nothing is wrong with it; problems and findings in the order of the text."""

    specification: Specification | None
    problems: tuple[SpecificationProblem, ...]
    findings: tuple[SpecificationProblem, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether there is no problem; findings do not count."""
        return not self.problems

    @property
    def blockers(self) -> tuple[SpecificationProblem, ...]:
        """The problems that are no mistakes, but say what no move database can hold."""
        return tuple(problem for problem in self.problems if problem.code == "refused")


def check_specification(data: str | bytes | Mapping[str, Any], file: str | None = None) -> SpecificationCheck:
    """Check a specification: JSON as text, as bytes, or decoded (then problems have no lines).

    Nothing is raised, whatever the data is; findings are looked for only where there is no problem.
    """
    found, uses, domains = _read(data)
    problems = found.problems(file)
    if problems:
        return SpecificationCheck(None, tuple(problems))
    specification = found.draft.specification()
    suspicious = [_finding(found, each, file) for each in findings(specification, uses, domains)]
    suspicious.sort(key=lambda each: (each.line or 0, each.column or 0))
    return SpecificationCheck(specification, (), tuple(suspicious))


def read_specification(data: str | bytes | Mapping[str, Any], file: str | None = None) -> Specification:
    """The specification; raises SpecificationError with every problem."""
    found, _, _ = _read(data)
    problems = found.problems(file)
    if problems:
        raise SpecificationError(problems)
    return found.draft.specification()


def _read(data: str | bytes | Mapping[str, Any]) -> tuple[Reader, Uses, Domains]:
    found = reader.read(data)
    uses = check_types(found)
    domains = domains_of(found.draft)
    with contextlib.suppress(TooManyError):
        for each in domains.unbounded:
            found.add(_unbounded(found, each))
    return found, uses, domains


def _unbounded(found: Reader, unbounded: Unbounded) -> Complaint:
    slot = unbounded.slot
    what = f"state.{slot[1]}" if slot[0] == "state" else f"the attribute {slot[2]}"
    return Complaint(
        found.path(unbounded.clause.place),
        f"{what} would have more than {limits.DESCRIPTION_VALUES.most} values, and a position keeps one of a few",
        None,
        f"values, or min and max, where it is declared{limits.DESCRIPTION_VALUES.more}",
        expression=unbounded.clause.text,
        at=start_of(unbounded.value),
        code="refused",
    )


def _finding(found: Reader, finding: Finding, file: str | None) -> SpecificationProblem:
    clause = finding.clause
    complaint = Complaint(
        found.path(finding.place),
        finding.message,
        expression=None if clause is None else clause.text,
        at=None if clause is None else finding.at,
        code=finding.code,
    )
    return found.problem(complaint, file, "finding")
