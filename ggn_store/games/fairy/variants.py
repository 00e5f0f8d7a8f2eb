"""A variants.ini -> what becomes of each of its sections: a definition, or every reason why there is none."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ggn_store import resources
from ggn_store.errors import DocumentError, UnknownNameError, offer, quote
from ggn_store.games import definition as definitions
from ggn_store.games import library
from ggn_store.games.fairy import ini, write
from ggn_store.games.fairy.ini import Option, Section
from ggn_store.games.fairy.options import ENDS
from ggn_store.games.fairy.settings import Refusal, inherit, to_host
from ggn_store.games.fairy.translate import translate
from ggn_store.games.rules import Definition

BUILT_IN = "fairy.ini"
# Variants that the engine has itself, too, and that the library defines: sections inherit their options.
DEFINED = (
    *("euroshogi", "fox-and-hounds", "gustav3", "koedem", "legan", "omicron", "opulent", "shoshogi", "supply"),
    *("torishogi", "troitzky", "wolf", "yarishogi"),
)
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
    A section without a base that is known is refused, and so are those that inherit from it.
    Raises DocumentError for a file that is no such file, UnknownNameError for a section that it does not have.
    """
    sections = ini.read(data, file)
    listed = [section.name for section in sections]
    wanted = _wanted(names, listed, f"{file} has no section")
    known = dict(_listed())
    without: set[str] = set()
    found: list[Variant] = []
    for section in sections:
        base = section.base
        if base in DEFINED and base not in known and (options := _options_of(base)) is not None:
            known[base] = options
        if base is not None and (base in without or base not in known):
            refusal = _no_base(section, base, listed, known, base in without)
            without.add(section.name)
            if section.name in wanted:
                found.append(Variant(section.name, section.line, None, None, (refusal,)))
            continue
        known[section.name] = inherit({} if base is None else known[base], section.options)
        if section.name in wanted:
            source = f"Section [{section.name}] of a Fairy-Stockfish variants.ini"
            found.append(_variant(section, known[section.name], source, file, allow_host_rules))
    return found


def built_in_variants(names: Iterable[str] = (), allow_host_rules: bool = False) -> list[Variant]:
    """Variants that Fairy-Stockfish has without a file, all or those that are named, as `read_variants` has them.

    Raises UnknownNameError for a name that it does not have.
    """
    known = _listed()
    wanted = _wanted(names, [*known, *DEFINED], "Fairy-Stockfish has no variant of its own")
    found = [
        _variant(Section(name, None, 0), known[name], f"Fairy-Stockfish's variant {name}", BUILT_IN, allow_host_rules)
        for name in known
        if name in wanted
    ]
    return found + [_defined(name, allow_host_rules) for name in DEFINED if name in wanted]


def _defined(name: str, allow_host_rules: bool) -> Variant:
    """A variant as the library defines it."""
    definition = library.read_game(name)
    left = (
        [] if allow_host_rules else [Refusal("", "", None, "B", to_host(duty), duty) for duty in definition.said.host]
    )
    if left:
        return Variant(name, 0, None, None, tuple(left))
    return Variant(name, 0, definition.text, definition, ())


def _wanted(names: Iterable[str], listed: list[str], without: str) -> set[str]:
    """The names that were asked for, or all that there are."""
    wanted = {*names}
    for name in sorted(wanted.difference(listed)):
        near = difflib.get_close_matches(name, listed, n=5) or listed
        raise UnknownNameError(f"{without} {quote(name)}; it has {offer(near)}")
    return wanted or {*listed}


@functools.cache
def _listed() -> Mapping[str, Mapping[str, Option]]:
    """The options of the variants that Fairy-Stockfish has itself, of which no line is the user's."""
    path = resources.directory("data") / BUILT_IN
    known: dict[str, dict[str, Option]] = {}
    for section in ini.read(path.read_bytes(), str(path)):
        known[section.name] = inherit({} if section.base is None else known[section.base], _without_lines(section))
    return known


@functools.cache
def _options_of(name: str) -> Mapping[str, Option] | None:
    """The options of a variant that the library defines, as they are exported; None where they do not say it whole."""
    written = write.write(library.read_game(name), name)
    [section] = ini.read(written.text.encode(), name)
    return None if written.left_out else inherit({}, _without_lines(section))


def _without_lines(section: Section) -> dict[str, Option]:
    return {name: Option(name, option.value, None) for name, option in section.options.items()}


def _no_base(section: Section, base: str, listed: list[str], known: Mapping[str, object], is_without: bool) -> Refusal:
    near = difflib.get_close_matches(base, {*known, *DEFINED}, n=5)
    said = f"a section inherits from a built-in variant or from one before it{'; near: ' * bool(near)}{', '.join(near)}"
    if is_without:
        reason = f"it inherits from [{base}], which is refused for its own base"
    elif base == section.name:
        reason = f"it inherits from itself: {said}"
    elif base in listed:
        reason = f"it inherits from [{base}], which comes later: put it before"
    elif base in DEFINED:
        reason = f"it inherits from [{base}], which no options say whole: `import --fairy {base}` has its definition"
    else:
        reason = f"it inherits from [{base}], which is not known: {said}"
    return Refusal("", "", section.line, "?", reason)


def _variant(
    section: Section, options: Mapping[str, Option], source: str, file: str, allow_host_rules: bool
) -> Variant:
    text, refusals = translate(section.name, options, source)
    of_ends = {option.name: option.line for name, option in options.items() if name in ENDS and option.line is not None}
    ends = tuple(sorted(of_ends, key=of_ends.__getitem__))
    kept = [refusal for refusal in refusals if refusal.duty is None or not allow_host_rules]
    if kept:
        return Variant(section.name, section.line, None, None, tuple(kept), ends)
    try:
        return Variant(section.name, section.line, text, definitions.read(text, file), (), ends)
    except DocumentError as error:
        told = []
        for problem in error.problems:
            allowed = f"; allowed: {problem.allowed}" if problem.allowed else ""
            reason = f"as a definition: {problem.pointer}: {problem.message}{allowed}"
            told.append(Refusal("", "", section.line, "D", reason))
        return Variant(section.name, section.line, None, None, tuple(dict.fromkeys(told)), ends)
