"""What is declared of how a game is played, read and written: one canonical JSON text, and tables of the same keys.

A revision has the text in its envelope (`text`, `parse`). A TOML file beside a document, and a definition, have the
table (`read`):

    [play]
    duties = ["royal-safety", { name = "no-drop-mate", pieces = ["SHOGI:P", "shogi:p"] }]
    reverts = { "C:-P" = "C:P" }
    crossing = [{ piece = "C:+K^", source = "e1", destination = "g1", through = ["e1", "f1", "g1"] }]
    outcome = [{ when = "no-move", verdict = "loss", in_check = true }]
    host = ["history"]
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final, TypeVar, cast, get_args

from ggn_store import limits
from ggn_store.errors import UNSTORABLE, NotationError, did_you_mean, offer, quote
from ggn_store.model.documents.document import EMPTY, Piece
from ggn_store.model.moves.play import DUTIES, HOST_DUTIES, OUTCOMES, Award, Crossing, Duty, Outcome, Play, When
from ggn_store.notation import json_text
from ggn_store.notation.complaints import Complaints
from ggn_store.notation.qpi import Side, side_of

# The duties that are about some pieces, or actions, only: a definition implies those of the first two.
_IMPLIED: Final = ("no-leap-from-check", "no-drop-mate")
_OPTIONAL: Final = ("mandatory-drop", "most-captures")
_NAMED: Final = ("capture-with", "capture-soon", "last-actions")
_STATES: Final = str.maketrans("", "", "+-^'")
_Path = tuple[str | int, ...]
_T = TypeVar("_T")
KEYS: Final = ("duties", "reverts", "crossing", "outcome", "host")
MOST: Final = 1_000_000
_EDGE: Final = re.compile("[^ ]+( [^ ]+)*")
_WAY: Final = re.compile("-?[0-9]{1,3}( -?[0-9]{1,3})*")
_FLAGS: Final = ("in_check", "safe", "answered", "perpetual")
_OF_ALL: Final = ("when", "verdict", "side")
_OF_KINDS: Final = tuple(each.name for each in fields(Outcome) if each.name not in _OF_ALL)


def text(play: Play) -> str | None:
    """The canonical JSON text of what a revision declares; None where it declares nothing."""
    return json_text.compact(_canonical(play).data()) if play != Play() else None


@functools.lru_cache(maxsize=256)
def parse(declared: str | None) -> Play:
    """What a canonical text declares; raises NotationError, saying where it is wrong, for anything else."""
    if declared is None:
        return Play()
    if len(declared) > limits.DEFINITION_BYTES.most:
        raise NotationError(f"{quote(declared)} declares no play: the text may have {limits.DEFINITION_BYTES.allowed}")
    try:
        data = json.loads(declared)
    except (ValueError, RecursionError):
        raise NotationError(f"{quote(declared)} declares no play: it is no JSON") from None
    complaints = Complaints()
    found = read(data, complaints)
    if complaints:
        problem = complaints[0]
        raise NotationError(str(problem.placed("/".join(map(str, ("play", *problem.path))), (None, None), None)))
    if text(found) != declared:
        raise NotationError(f"{quote(declared)} declares no play in its canonical form: {quote(text(found))}")
    return found


def read(data: object, complaints: Complaints, path: tuple[str | int, ...] = ()) -> Play:
    """What decoded JSON or TOML declares; what is wrong with it goes to `complaints`, each at its path."""
    reader = _Reader(complaints.add)
    with contextlib.suppress(limits.TooManyError):
        return reader.play(data, path)
    return Play()


def check_duties(play: Play, complaints: Complaints, path: tuple[str | int, ...], *, has_definition: bool) -> None:
    """Complain of duties that nothing says what they are about, and of pieces of those that are about none."""
    named = _NAMED if has_definition else (*_IMPLIED, *_NAMED)
    for number, duty in enumerate(play.duties):
        at = (*path, "duties", number)
        if duty.pieces and duty.name not in (*_IMPLIED, *_OPTIONAL, *_NAMED):
            complaints.add((*at, "pieces"), f"{duty.name} is about no pieces", list(duty.pieces), "the name alone")
        elif not duty.pieces and duty.name in named:
            allowed = f'{{ name = "{duty.name}", pieces = ["...", ...] }}'
            complaints.add(at, f"{duty.name} says in pieces what it is about", duty.name, allowed)
        elif duty.name == "clear-marks" and not play.reverts and not has_definition:
            allowed = 'reverts = { "C:-P" = "C:P", ... }'
            complaints.add(at, "what clear-marks takes a mark off to is said in reverts", duty.name, allowed)


def strange_names(play: Play, named: Iterable[str], pieces: Iterable[Piece]) -> Iterator[tuple[str, object, str]]:
    """What is wrong with the pieces and actions that it names, where a game has those: a message, found, and allowed.

    `named` are the identifiers that the game knows, of which not all states need come up; `pieces` its rules.
    """
    known = {_stateless(piece) for piece in named}
    unknown = sorted(piece for piece in play.pieces() if _stateless(piece) not in known)
    if unknown:
        message = "how the game is played names pieces that the document and its start do not"
        yield message, unknown, "pieces of the document"
    for marked, plain in play.reverts.items() if not unknown else ():
        if plain != EMPTY and side_of(marked) != side_of(plain):
            yield f"{marked} reverts to a piece of the other side", plain, "a piece of its side"
    if last := play.duty("last-actions"):
        origins = (possibility.origin for piece in pieces for *_, possibility in piece.entries())
        actions = sorted({origin.action for origin in origins if origin is not None})
        if elsewhere := sorted(set(last.pieces).difference(actions)):
            message = "how the game is played names actions that the document does not"
            yield message, elsewhere, offer(actions) if actions else "actions of a document that names some"


def _stateless(piece: str) -> str:
    return piece.translate(_STATES)


def _canonical(play: Play) -> Play:
    """The same, with what is a set in order."""
    duties = (Duty(each.name, tuple(sorted(each.pieces))) for each in play.duties)
    sets = (
        replace(
            each,
            pieces=tuple(sorted(each.pieces)),
            squares=tuple(sorted(each.squares)),
            edges=tuple(sorted(each.edges)),
            ways=tuple(sorted(each.ways)),
        )
        for each in play.outcomes
    )
    return Play(
        tuple(sorted(duties, key=lambda each: each.name)),
        dict(sorted(play.reverts.items())),
        tuple(sorted(play.crossing, key=lambda each: (each.piece, each.source, each.destination, each.through))),
        tuple(sets),
        tuple(sorted(play.host)),
    )


class _Reader:
    """Makes values of decoded data, and complains of what is not as it must be."""

    def __init__(self, complain: Callable[..., None]) -> None:
        self._complain = complain

    def play(self, data: object, path: _Path) -> Play:
        table = self._table(data, path, "play", KEYS)
        return Play(
            tuple(self._each(table, "duties", path, self._duty, lambda duty: duty.name)),
            self._reverts(table, path),
            tuple(self._each(table, "crossing", path, self._crossing)),
            tuple(self._each(table, "outcome", path, self._outcome)),
            tuple(self._each(table, "host", path, lambda name, at: self._choice(name, at, HOST_DUTIES))),
        )

    def _each(
        self,
        table: Mapping[str, Any],
        key: str,
        path: _Path,
        read: Callable[[Any, _Path], _T | None],
        key_of: Callable[[_T], object] = lambda value: value,
    ) -> Iterator[_T]:
        """What the entries of a list are read as, each once."""
        path = (*path, key)
        value = table.get(key, [])
        most = limits.DEFINITION_LIST
        if not isinstance(value, list) or len(value) > most.most:
            message = f"{key} is a list" if not isinstance(value, list) else "the list is too long"
            self._complain(path, message, value, "[...]" if not isinstance(value, list) else most.allowed)
            return
        known = set()
        for number, item in enumerate(value):
            made = read(item, (*path, number))
            if made is None:
                continue
            if key_of(made) in known:
                self._complain((*path, number), f"{key} has this twice", item, "each once")
                continue
            known.add(key_of(made))
            yield made

    def _duty(self, value: object, path: _Path) -> Duty | None:
        if not isinstance(value, dict):
            name = self._choice(value, path, DUTIES)
            return None if name is None else Duty(name)
        self._table(value, path, "a duty", ("name", "pieces"))
        name = self._choice(value.get("name"), (*path, "name"), DUTIES)
        return None if name is None else Duty(name, self._words(value, "pieces", path))

    def _reverts(self, table: Mapping[str, Any], path: _Path) -> dict[str, str]:
        value = table.get("reverts", {})
        path = (*path, "reverts")
        if not isinstance(value, dict) or len(value) > limits.DEFINITION_LIST.most:
            allowed = f"{{ marked = plain, ... }}, {limits.DEFINITION_LIST.allowed}"
            self._complain(path, "reverts is a table of pieces", value, allowed)
            return {}
        pairs = {key: self._word(plain, (*path, key)) for key, plain in value.items() if self._word(key, (*path, key))}
        return {marked: plain for marked, plain in pairs.items() if plain is not None}

    def _crossing(self, value: object, path: _Path) -> Crossing | None:
        keys = tuple(each.name for each in fields(Crossing))
        table = self._table(value, path, "a crossing", keys)
        piece, source, destination = (self._word(table.get(key), (*path, key)) for key in keys[:3])
        through = self._words(table, "through", path)
        if piece is None or source is None or destination is None:
            return None
        if not through:
            self._complain((*path, "through"), "a crossing says which squares it crosses", allowed='["e1", "f1", "g1"]')
        return Crossing(piece, source, destination, through)

    def _outcome(self, value: object, path: _Path) -> Outcome | None:
        table = self._table(value, path, "an outcome", tuple(each.name for each in fields(Outcome)))
        when = self._choice(table.get("when"), (*path, "when"), OUTCOMES)
        verdict = self._choice(table.get("verdict"), (*path, "verdict"), get_args(Award))
        side = None if "side" not in table else self._choice(table["side"], (*path, "side"), get_args(Side))
        if when is None or verdict is None:
            return None
        kind = OUTCOMES[cast(When, when)]
        for key in kind.must:
            if key not in table:
                self._complain((*path, key), f"an outcome of the kind {when} says its {key}", allowed=f"{key} = ...")
        for key in table:
            if key in _OF_KINDS and key not in (*kind.must, *kind.may):
                allowed = ", ".join((*_OF_ALL, *kind.must, *kind.may))
                self._complain((*path, key), f"an outcome of the kind {when} has no such key", table[key], allowed)
        flags = {key: self._flag(table, key, path) for key in _FLAGS if key in table}
        return Outcome(
            cast(When, when),
            cast(Award, verdict),
            cast("Side | None", side),
            self._words(table, "pieces", path),
            self._words(table, "squares", path),
            self._count(table, "count", path),
            other=self._count(table, "other", path),
            edges=self._words(table, "edges", path, _EDGE, '["a1 b1 c1", ...]'),
            ways=self._words(table, "ways", path, _WAY, '["1 0", "0 1", ...]'),
            **flags,
        )

    # --- values of a kind ---

    def _table(self, value: object, path: _Path, kind: str, keys: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._complain(path, f"{kind} is a table", value, f"a table with the keys {', '.join(keys)}")
            return {}
        for key in value:
            if key not in keys:
                hint = did_you_mean(key, keys)
                self._complain((*path, key), f"{kind} has no such key{hint}", key, ", ".join(keys))
        return value

    def _choice(self, value: object, path: _Path, choices: Collection[str]) -> str | None:
        if isinstance(value, str) and value in choices:
            return value
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        self._complain(path, f"it is one of a few words{hint}", value, ", ".join(choices))
        return None

    def _word(self, value: object, path: _Path) -> str | None:
        if isinstance(value, str) and 0 < len(value) <= limits.LABEL.default and not UNSTORABLE.search(value):
            return value
        self._complain(path, "it is no piece or square", value, f"a text of 1 to {limits.LABEL.default} characters")
        return None

    def _words(
        self,
        table: Mapping[str, Any],
        key: str,
        path: _Path,
        form: re.Pattern[str] | None = None,
        allowed: str = '["...", ...]',
    ) -> tuple[str, ...]:
        """The texts of a list, each of which has a form."""
        if key in table and table[key] == []:
            self._complain((*path, key), f"{key} is empty", [], allowed)
        words = tuple(self._each(table, key, path, self._word))
        for number, word in enumerate(words):
            if form is not None and not form.fullmatch(word):
                self._complain((*path, key, number), f"{key} has no such text", word, allowed)
        return words

    def _flag(self, table: Mapping[str, Any], key: str, path: _Path) -> bool:
        if not isinstance(table[key], bool):
            self._complain((*path, key), f"{key} says yes or no", table[key], "true or false")
        return table[key] is True

    def _count(self, table: Mapping[str, Any], key: str, path: _Path) -> int | None:
        value = table.get(key)
        least = 0 if table.get("when") == "extinct" else 1
        if key not in table or (type(value) is int and least <= value <= MOST):
            return value
        self._complain((*path, key), f"{key} says how many", value, f"a whole number from {least} to {MOST:,}")
        return None
