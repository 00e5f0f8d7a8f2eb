"""What can go wrong, one class for each thing that a user can mend.

Every error of the package is a `GgnStoreError`; its message says what is wrong and how to mend it, and
`exit_code` is what the command line ends with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from unicodedata import combining, east_asian_width

_QUOTE_LIMIT = 80
_OFFER_LIMIT = 8
_POINTER_LIMIT = 400
_CARET_LIMIT = 200
_NAME_LIMIT = 64
_PLACES = 6


# What a database cannot keep in a text: NUL (Postgres) and lone surrogates (UTF-8).
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def printable(text: str) -> str:
    """`text` with every character that could act on a terminal (or cannot be encoded) written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode("ascii") for c in text
    )


def quote(value: object) -> str:
    """`value` as short JSON that is safe to print, for the "found" part of a message."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a Python {type(value).__name__}"
    if len(text) > _QUOTE_LIMIT:
        text = text[:_QUOTE_LIMIT] + "..."
    return printable(text)


def did_you_mean(name: str, names: Iterable[str], shown: Callable[[str], str] = printable, least: float = 0.6) -> str:
    """The end of a message about an unknown name: the known one that it is likely a slip of, or nothing.

    Of short names, which are alike anyway, `least` asks for more likeness, from 0 to 1.
    """
    import difflib

    if not isinstance(name, str) or len(name) > _NAME_LIMIT:
        return ""
    known = [each for each in names if len(each) <= _NAME_LIMIT]
    # Letters in another order or another case are the commonest slips, and the library does not rank them first.
    swapped = [each for each in known if sorted(each.lower()) == sorted(name.lower())]
    near = swapped or difflib.get_close_matches(name, known, 1, least)
    return f": did you mean {shown(near[0])}?" if near else ""


def offer(names: Sequence[str]) -> str:
    """The first few of `names`, for the "it has ..." part of a message."""
    shown = ", ".join(map(printable, names[:_OFFER_LIMIT]))
    return shown + (f" and {len(names) - _OFFER_LIMIT} more" if len(names) > _OFFER_LIMIT else "")


def counted(number: int, what: str, many: str | None = None) -> str:
    """`1 piece`, `2,000 pieces`."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


class GgnStoreError(Exception):
    """The base of every error that this package raises on purpose."""

    exit_code = 1

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else self.__class__.__name__

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled, as a pool of processes does: the message, and not what it would be made of once more."""
        return _as_it_was, (type(self), self.args), self.__dict__


def _as_it_was(kind: type[GgnStoreError], args: tuple[Any, ...]) -> GgnStoreError:
    return kind.__new__(kind, *args)


class NotationError(GgnStoreError, ValueError):
    """A string is not of the notation that was expected; the message quotes it."""


class PositionError(GgnStoreError, ValueError):
    """A position cannot be read or written in the form that was asked for."""


class PictureError(GgnStoreError, ValueError):
    """A picture cannot be drawn, or not in the form that was asked for."""


class ConversionError(GgnStoreError, ValueError):
    """A document cannot be written in another dialect without losing something; `losses` names what."""

    def __init__(self, message: str, losses: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.losses = tuple(losses)


class InputError(GgnStoreError):
    """A file or stream cannot be read as what it was given for."""


class UnknownNameError(GgnStoreError, KeyError):
    """A ruleset, piece, source or destination is not there; also a `KeyError`, as in Ggn.rb."""


class UnknownRulesetError(UnknownNameError):
    """A store has no ruleset of this `name`, and never had."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


class MoveError(GgnStoreError, ValueError):
    """A move cannot be applied to the position."""


class MoveTextError(MoveError):
    """A text is no move in the notation that it should be in, or in any."""


class StoreError(GgnStoreError):
    """The database cannot do what was asked; nothing was changed, unless the message says that this is unknown."""


class RefusedError(StoreError):
    """A rule of the store does not allow a change: the ruleset is retired, or takes only what was reviewed."""


class RightError(StoreError):
    """The user of the database has no right to do that."""


class DamagedError(StoreError):
    """The store does not hold any more what was put into it."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}: restore the store from a backup (`ggn-store db check` lists all that is damaged)")
        self.fault = fault


class StoreVersionError(StoreError):
    """The store's tables are missing, behind or ahead of this program."""


class QueryError(GgnStoreError, ValueError):
    """A question in SQL is wrong, would do more than read, or was cut off; the message says why."""


class ConflictError(GgnStoreError):
    """Somebody else changed the same thing first; `merge` holds what both sides changed (a `Merge`), if it is known.

    `apart` holds the sides (an `Apart`) where a merge of them was asked for and failed.
    """

    exit_code = 3

    def __init__(self, message: str, merge: Any = None, apart: Any = None) -> None:
        super().__init__(message)
        self.merge = merge
        self.apart = apart


class HeadMovedError(ConflictError):
    """The newest revision of a ruleset is not the one that a change was based on."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or (a finding) suspicious, in a text of one `kind`.

    `pointer` is a JSON Pointer (RFC 6901; "" is the whole text), or the path of a definition's key as TOML writes it
    (`pieces."+P".betza`). `line` and `column` count from 1, in characters; they are None where there was no text.
    `detail` are further lines. In a game description, `expression` is the condition or effect that it is about, and
    `at` the character of it, from 0; of a document, the `code` alone tells findings from problems.

    A reader that does not know lines says where by `path`, with `at_key` for the key rather than the value, or by
    `offset`, in characters from 0.
    """

    message: str
    pointer: str = ""
    line: int | None = None
    column: int | None = None
    file: str | None = None
    found: str | None = None
    allowed: str | None = None
    code: str = "invalid"
    detail: str | None = None
    section: str | None = None
    action: str | None = None
    expression: str | None = None
    at: int | None = None
    severity: Literal["problem", "finding"] = "problem"
    kind: Literal["document", "definition", "description"] = "document"
    path: tuple[str | int, ...] = ()
    at_key: bool = False
    offset: int | None = None

    def __str__(self) -> str:
        pointer = self.pointer if len(self.pointer) <= _POINTER_LIMIT else self.pointer[:_POINTER_LIMIT] + "..."
        place = ":".join(part for part in (self.file, self.line and f"{self.line}:{self.column}") if part)
        text = " ".join(part for part in (place, pointer) if part)
        message = f"finding: {self.message}" if self.severity == "finding" else self.message
        tail = (f"; found {self.found}" if self.found else "") + (f"; allowed: {self.allowed}" if self.allowed else "")
        lines = [f"{text}: {message}{tail}" if text else f"{message}{tail}"]
        if self.section is not None and (self.action is not None or self.expression is not None):
            action = "" if self.action is None else f", action {self.action}"
            lines.append(f"  in {self.section}{action}" + ("" if self.expression is None else ":"))
        if self.expression is not None:
            lines += _with_caret(self.expression, self.at or 0)
        if self.detail is not None:
            lines += self.detail.split("\n")
        return "\n".join(map(printable, lines))

    def placed(self, pointer: str, place: tuple[int | None, int | None], file: str | None) -> Problem:
        """The problem at the line and column that its path or its offset was found at."""
        line, column = place
        return replace(self, pointer=pointer, line=line, column=column, file=file, path=(), at_key=False, offset=None)

    def data(self) -> dict[str, Any]:
        """The problem as JSON data, for editors and CI."""
        return {key: getattr(self, key) for key in (*_KEYS, *_KEYS_OF.get(self.kind, ()))}


# The keys of a problem as data: those of all, and those of a kind.
_KEYS: Final = ("message", "pointer", "line", "column", "file", "found", "allowed", "code")
_KEYS_OF: Final = {
    "definition": ("detail",),
    "description": ("section", "action", "expression", "at", "severity"),
}


def _with_caret(text: str, at: int) -> list[str]:
    """The part of `text` around a character, and a line with a caret under it."""
    at = min(at, len(text))
    start = max(0, at - _CARET_LIMIT // 2)
    end = start + _CARET_LIMIT
    before = ("..." if start else "") + printable(text[start:at])
    after = printable(text[at:end]) + ("..." if end < len(text) else "")
    # A terminal gives some letters two columns, and marks on letters none.
    width = sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in before)
    return [f"    {before}{after}", f"    {' ' * width}^"]


class GateError(GgnStoreError, ValueError):
    """A ruleset does not take a change: its policy, its state or its reviewers refuse; `problems` lists every finding.

    Nothing was changed.
    """

    def __init__(self, message: str, problems: Iterable[Problem] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join([message, *map(str, self.problems)]))


class DocumentError(GgnStoreError, ValueError):
    """A document is not valid GGN; `problems` lists everything that is wrong with it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class SpecificationError(DocumentError):
    """A game description is wrong, or says what no move database can hold; `problems` lists everything."""

    def __str__(self) -> str:
        return "\n".join(said_once(self.problems))


def said_once(problems: Iterable[Problem]) -> Iterator[str]:
    """Problems as text; what is the same at several places of a file is said once, with the other places after it."""
    same: dict[tuple[str | None, str], list[Problem]] = {}
    for problem in problems:
        same.setdefault((problem.file, problem.message), []).append(problem)
    for first, *others in same.values():
        yield str(first)
        if others:
            places = [each.pointer if each.line is None else f"{each.line}:{each.column}" for each in others]
            more = f" and {len(places) - _PLACES} more" if len(places) > _PLACES else ""
            yield printable(f"  the same at {', '.join(places[:_PLACES])}{more}")
