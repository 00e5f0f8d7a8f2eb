"""A variants.ini -> what becomes of each of its sections: a definition, or every reason why there is none."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ggn_store import resources
from ggn_store.errors import DocumentError, Problem, UnknownNameError, offer, quote
from ggn_store.games import definition as definitions
from ggn_store.games.fairy import ini
from ggn_store.games.fairy.ini import Option, Section
from ggn_store.games.fairy.options import ENDS
from ggn_store.games.fairy.settings import Refusal, inherit
from ggn_store.games.fairy.translate import translate
from ggn_store.games.rules import Definition

BUILT_IN = "fairy.ini"
_TIERS = "ABCD?"


@dataclass(frozen=True, slots=True)
class Variant:
    """A section of a variants.ini.

    `text` is its definition in TOML and `definition` what that says; both are None where there are `refusals` that the
    host was not allowed to take over. `ends` are its options about how the game ends, of which come outcomes.
    """

    name: str
    line: int
    text: str | None
    definition: Definition | None
    refusals: tuple[Refusal, ...]
    ends: tuple[str, ...] = ()

    @property
    def tier(self) -> str:
        """A or B where a document can carry it, else the worst tier of what it cannot."""
        if self.definition is not None:
            return self.definition.tier or "B"
        return max((refusal.tier for refusal in self.refusals), key=_TIERS.index)


def read_variants(
    data: bytes, file: str = "variants.ini", names: Iterable[str] = (), allow_host_rules: bool = False
) -> list[Variant]:
    """The sections of a file, all of them or those that are named, in its order.

    With `allow_host_rules` options that are a duty of the host are recorded in the definition instead of being refused.
    Raises DocumentError for a file that is no such file, UnknownNameError for a section that it does not have.
    """
    sections = ini.read(data, file)
    wanted = list(names)
    for name in wanted:
        if name not in ini.names(sections):
            raise UnknownNameError(f"{file} has no section {quote(name)}; it has {offer(ini.names(sections))}")
    known = dict(_built_in())
    problems: list[Problem] = []
    found: list[Variant] = []
    for section in sections:
        try:
            base = {} if section.base is None else known[section.base]
        except LookupError:
            problems.append(_no_base(section, sections, known, file))
            continue
        known[section.name] = inherit(base, section.options)
        if not wanted or section.name in wanted:
            found.append(_variant(section, known[section.name], file, allow_host_rules))
    if problems:
        raise DocumentError(problems)
    return found


@functools.cache
def _built_in() -> Mapping[str, Mapping[str, Option]]:
    """The options of the variants that Fairy-Stockfish has itself, of which no line is the user's."""
    path = resources.directory("data") / BUILT_IN
    known: dict[str, dict[str, Option]] = {}
    for section in ini.read(path.read_bytes(), str(path)):
        own = {name: Option(name, option.value, None) for name, option in section.options.items()}
        known[section.name] = inherit({} if section.base is None else known[section.base], own)
    return known


def _no_base(section: Section, sections: list[Section], known: Mapping[str, object], file: str) -> Problem:
    base = str(section.base)
    if base == section.name:
        message = "a variant inherits from itself"
    elif base in ini.names(sections):
        message = "a variant inherits from one that comes later: put it before"
    else:
        message = "a variant inherits from one that is not known"
    near = difflib.get_close_matches(base, known, n=5)
    allowed = f"a built-in variant or one that stands before it{'; near: ' + ', '.join(near) if near else ''}"
    return Problem(message, "", section.line, 1, file, quote(base), allowed)


def _variant(section: Section, options: Mapping[str, Option], file: str, allow_host_rules: bool) -> Variant:
    source = f"Section [{section.name}] of a Fairy-Stockfish variants.ini"
    text, refusals = translate(section.name, options, source)
    ends = tuple(name for name, option in options.items() if name in ENDS and option.line is not None)
    kept = [refusal for refusal in refusals if refusal.duty is None or not allow_host_rules]
    if kept:
        return Variant(section.name, section.line, None, None, tuple(kept), ends)
    try:
        return Variant(section.name, section.line, text, definitions.read(text, file), (), ends)
    except DocumentError as error:
        told = [
            Refusal("", "", section.line, "D", f"as a definition: {problem.pointer}: {problem.message}")
            for problem in error.problems
        ]
        return Variant(section.name, section.line, None, None, tuple(told), ends)
