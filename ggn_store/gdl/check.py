"""Everything that can be said of a specification: what is wrong, what no database can hold, what is suspicious."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ggn_store import limits
from ggn_store.errors import Problem, SpecificationError
from ggn_store.gdl import reader
from ggn_store.gdl.domains import Domains, Unbounded, domains_of
from ggn_store.gdl.expressions import start_of
from ggn_store.gdl.extensions import extensions
from ggn_store.gdl.findings import findings
from ggn_store.gdl.language import ENTITY, NAMES
from ggn_store.gdl.reader import SpecificationReader
from ggn_store.gdl.specification import Specification
from ggn_store.gdl.types.effects import Effects
from ggn_store.gdl.types.typed import NamesUsed, Remarks
from ggn_store.gdl.types.values import ValueChecks
from ggn_store.limits import TooManyError


@dataclass(frozen=True, slots=True)
class SpecificationCheck:
    """The specification where nothing is wrong with it; problems and findings in the order of the text.

    `extensions` are what it uses that other programs do not read.
    """

    specification: Specification | None
    problems: tuple[Problem, ...]
    findings: tuple[Problem, ...] = ()
    extensions: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether there is no problem; findings do not count."""
        return not self.problems

    @property
    def blockers(self) -> tuple[Problem, ...]:
        """The problems that are no mistakes, but say what no move database can hold."""
        return tuple(problem for problem in self.problems if problem.code == "refused")


def check_specification(
    data: str | bytes | Mapping[str, Any], file: str | None = None, beside: Path | None = None
) -> SpecificationCheck:
    """Check a specification: JSON as text, as bytes, or decoded (then problems have no lines).

    In the folder `beside` are files that it may be like.

    Nothing is raised, whatever the data is; findings are looked for only where there is no problem.
    """
    found, uses, domains = _read(data, beside)
    problems = found.problems(file)
    if problems:
        return SpecificationCheck(None, tuple(problems))
    specification = found.draft.specification()
    own = extensions(specification, data if isinstance(data, Mapping) else None)
    return SpecificationCheck(specification, (), tuple(found.placed(findings(specification, uses, domains), file)), own)


_last: list[Specification] = []


def reread_specification(text: str) -> Specification:
    """The specification of a text that was read before, as a rule last: what it was compiled into is being stored.

    Raises SpecificationError like `read_specification`.
    """
    return next((last for last in _last if last.text == text), None) or read_specification(text)


def read_specification(
    data: str | bytes | Mapping[str, Any], file: str | None = None, beside: Path | None = None
) -> Specification:
    """The specification; raises SpecificationError with every problem."""
    found, _, _ = _read(data, beside)
    problems = found.problems(file)
    if problems:
        raise SpecificationError(problems)
    specification = found.draft.specification()
    if isinstance(data, Mapping) and not specification.text:
        # What was never text becomes it, to be kept with the document.
        specification = replace(specification, text=json.dumps(data, ensure_ascii=False))
    _last[:] = [specification]
    return specification


def _read(data: str | bytes | Mapping[str, Any], beside: Path | None) -> tuple[SpecificationReader, NamesUsed, Domains]:
    found = reader.read(data, beside)
    uses = NamesUsed()
    with contextlib.suppress(TooManyError):
        _check_types(found, uses)
    domains = domains_of(found.draft)
    with contextlib.suppress(TooManyError):
        for each in domains.unbounded:
            _complain_of(found, each)
    return found, uses, domains


def _check_types(reader: SpecificationReader, uses: NamesUsed) -> None:
    """Check all conditions and effects, and the conditions of assets; those of the end are the host's.

    What is wrong goes to the reader's complaints; what expressions read and write, to `uses`.
    """
    draft = reader.draft
    remarks = Remarks(reader)
    values = ValueChecks(draft, uses, remarks)
    effects = Effects(draft, uses, remarks, values)
    for action in draft.actions:
        values.names = (
            NAMES if not action.from_hand else {name: kind for name, kind in NAMES.items() if name != "start"}
        )
        with values.assuming(*(condition.expression for condition in action.conditions)):
            for condition in action.conditions:
                remarks.about(condition)
                values.condition(condition.expression)
            for effect in action.effects:
                remarks.about(effect)
                effects.check(effect.expression)
    values.names = {"entity": ENTITY}
    for profile in draft.assets:
        for asset in profile.assets:
            remarks.about(asset.condition)
            with values.assuming(asset.condition.expression):
                values.condition(asset.condition.expression)


def _complain_of(found: SpecificationReader, unbounded: Unbounded) -> None:
    slot, clause = unbounded.slot, unbounded.clause
    what = f"state.{slot[1]}" if slot[0] == "state" else f"the attribute {slot[2]}"
    found.complain_of(
        clause.place.path,
        clause.text,
        start_of(unbounded.value),
        f"{what} would have more than {limits.DESCRIPTION_VALUES.most} values, and a position keeps one of a few",
        allowed=f"values, or min and max, where it is declared{limits.DESCRIPTION_VALUES.more}",
        code="refused",
    )
