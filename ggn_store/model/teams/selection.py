"""Which rulesets are meant: by names, namespaces (`team/`: all below it) and globs (`team/*`, `**/*shogi*`).

`*`, `?` and `[...]` match within one part of a name; `**` as a part matches any number of parts. Case counts.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from typing import Final

from ggn_store.errors import NotationError, UnknownNameError, did_you_mean, offer, printable, quote

# One, several, or all.
RulesetNames = str | Iterable[str] | None

_WILD: Final = frozenset("*?[")
_ANY: Final = "**"


def is_pattern(selector: object) -> bool:
    """Whether many rulesets may be meant, instead of one by its name."""
    return isinstance(selector, str) and (selector.endswith("/") or not _WILD.isdisjoint(selector))


def matches(selector: str, name: str) -> bool:
    """Whether a ruleset of this name is meant."""
    return selector == name if not is_pattern(selector) else _match(_parts(selector), name.split("/"))


def select(selectors: Iterable[str], names: Collection[str], where: str = "the store") -> list[str]:
    """The names that are meant, each once, those of a pattern in their order.

    A name is taken as it is: what reads it says that it is not there. Raises UnknownNameError for a pattern that
    matches none of `names`.
    """
    found: dict[str, None] = {}
    for selector in selectors:
        some = sorted(each for each in names if matches(selector, each)) if is_pattern(selector) else [selector]
        if not some:
            raise UnknownNameError(f"{where} has no ruleset that matches {quote(selector)}{_hint(selector, names)}")
        found |= dict.fromkeys(some)
    return [*found]


def check_number(number: int | None, what: str = "limit") -> int | None:
    """`number`, if it can say how many are wanted, or be the id of an event; raises NotationError."""
    if number is None or (isinstance(number, int) and 0 <= number <= sys.maxsize):
        return number
    raise NotationError(f"{what} is a whole number from 0, not {quote(number)}")


def only_one(selector: str, names: Collection[str] | None = None) -> str:
    """Why a pattern cannot stand where one ruleset is needed, with those that it matches."""
    said = f"{quote(selector)} may mean many rulesets, and this takes one"
    if names is None:
        return said
    some = sorted(each for each in names if matches(selector, each))
    return said + (f": name one of {offer(some)}" if some else f", and it matches none{_hint(selector, names)}")


def _parts(selector: str) -> list[str]:
    """The parts of a pattern; what ends with / or /** means whatever is below."""
    parts = selector.split("/")
    if parts[-1] in ("", _ANY):
        parts[-1:] = [_ANY, "*"]
    # Several in a row say nothing more, and would be tried one by one.
    return [part for at, part in enumerate(parts) if part != _ANY or parts[at - 1 : at] != [_ANY]]


def _match(pattern: list[str], parts: list[str]) -> bool:
    """Whether the parts of a name match those of a pattern, which is read from the left: `reached` are ends of it."""
    reached = {0}
    for part in pattern:
        if part == _ANY:
            reached = {*range(min(reached), len(parts) + 1)}
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], part)}
        if not reached:
            return False
    return len(parts) in reached


def _hint(selector: str, names: Collection[str]) -> str:
    """What may have been meant instead of a pattern that matches nothing."""
    wider = f"**/{selector}"
    if not selector.startswith("/") and any(matches(wider, name) for name in names):
        return f": * stays within one part of a name, {printable(wider)} looks below all"
    spaces = {f"{name[:at]}/" for name in names for at, letter in enumerate(name) if letter == "/"}
    if hint := did_you_mean(selector, sorted({*spaces, *names})):
        return hint
    return f"; it has {offer(sorted(names))}" if names else "; it is empty"
