"""`like`: a game that says only in what it differs from another one, made whole before anything of it is judged.

Tables are merged key by key, and lists whose items have names of their own as tables are. Whatever else is written
replaces what was there. In a list, "..." stands for the items that were there; `without` names keys that are taken
away first. What is new stands after the key that it is written after, at the end where that is none.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ggn_store import limits, resources
from ggn_store.errors import UNSTORABLE, did_you_mean, offer
from ggn_store.model.changes import order
from ggn_store.model.changes.trees import by_name
from ggn_store.notation import toml

LIKE: Final = "like"
WITHOUT: Final = "without"
REST: Final = "..."

Keys = tuple[str | int, ...]


class LikeError(ValueError):
    """Why something is not made whole: what is wrong with one of its keys, and what is allowed there."""

    def __init__(self, path: Keys, message: str, found: Any, allowed: str | None = None) -> None:
        super().__init__(message)
        self.path, self.message, self.found, self.allowed = path, message, found, allowed


@dataclass(frozen=True, slots=True)
class LikeSource:
    """What another one is like, by its name there."""

    name: str
    text: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LikeLanguage:
    """Where a language has its games: in a folder of the library, under names with a prefix, in files of one ending.

    `load` gives the text and the value of such a file, and raises ValueError for what is none; `most` limits its size;
    keys of `own` are said by each game itself.
    """

    folder: str
    prefix: str
    ending: str
    own: tuple[str, ...]
    most: limits.Limit
    load: Callable[[bytes], tuple[str, Mapping[str, Any]]]


def whole(
    language: LikeLanguage, value: Mapping[str, Any], beside: Path | None
) -> tuple[dict[str, Any], tuple[LikeSource, ...]]:
    """The value with all that it is like, and what that is, the nearest first; `beside` is the folder of its file.

    Raises LikeError.
    """
    found: list[LikeSource] = []
    known: dict[Path, str] = {}
    while LIKE in (last := found[-1].value if found else value):
        path, name = _find(language, last[LIKE], beside), last[LIKE]
        if path in known or len(known) >= limits.LIKES.most:
            chain = " -> ".join((*known.values(), name))
            why, allowed = ("goes in a circle", "a game that is whole in the end")
            if path not in known:
                why, allowed = ("goes through too many games", limits.LIKES.allowed)
            raise LikeError((LIKE,), f"like {why}", chain, allowed)
        known[path] = name
        beside = path.parent
        try:
            with path.open("rb") as file:
                text, read = language.load(file.read(language.most.most + 1))
        except (OSError, ValueError) as error:
            raise LikeError((LIKE,), f"what this is like cannot be read: {error}", name) from None
        found.append(LikeSource(name, text, read))
    made = dict(found[-1].value) if found else dict(value)
    for number in range(len(found) - 1, -1, -1):
        over = found[number - 1].value if number else value
        try:
            made = _put(language, made, over, found[number].name)
        except LikeError as error:
            if not number:
                raise
            place = toml.key_path(error.path)
            message = f"{found[number - 1].name} says in {place}: {error.message}"
            raise LikeError((LIKE,), message, error.found, error.allowed) from None
    return made, tuple(found)


def _find(language: LikeLanguage, name: object, beside: Path | None) -> Path:
    """The file of a name; raises LikeError for one that there is not."""
    ending = language.ending
    allowed = f'a game of the library, or a file beside this one, such as "base{ending}"'
    if not isinstance(name, str) or UNSTORABLE.search(name):
        raise LikeError((LIKE,), "like names another game", name, allowed)
    is_file = name.endswith(ending)
    if is_file and (Path(name).name != name or beside is None):
        raise LikeError((LIKE,), "no file beside this one", name, "the name of a file in the folder of this one")
    folder = beside if is_file and beside is not None else resources.directory("data") / language.folder
    prefix, end = ("", ending) if is_file else (language.prefix, "")
    found: list[str] = []
    with contextlib.suppress(OSError):  # of a folder that may not be listed
        found = sorted(each.removesuffix(ending) for each in os.listdir(folder) if each.endswith(ending))
    known = [f"{prefix}{each}{end}" for each in found]
    path = folder / f"{name.removeprefix(prefix).removesuffix(end)}{ending}"
    if name in known and path.is_file():
        return path.resolve()
    where = "there is no such file beside this one" if is_file else "the library has no such game"
    raise LikeError((LIKE,), f"{where}{did_you_mean(name, known)}", name, offer(known) or None)


def _put(language: LikeLanguage, under: Mapping[str, Any], over: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A value over another one, which has a name."""
    kept = {key: each for key, each in under.items() if key not in (*language.own, LIKE, WITHOUT)}
    paths = over.get(WITHOUT, [])
    if not isinstance(paths, list):
        raise LikeError((WITHOUT,), "without is a list of keys", paths, '["pieces.Q", ...]')
    for number, path in enumerate(paths):
        keys = toml.keys(path) if isinstance(path, str) else None
        if keys is None:
            raise LikeError((WITHOUT, number), "not the name of a key", path, 'such as "pieces.Q"')
        kept = _taken(kept, keys, (WITHOUT, number), name)
    return dict(_over(kept, {key: each for key, each in over.items() if key not in (LIKE, WITHOUT)}, (), name))


def _taken(value: Any, keys: Sequence[str], path: Keys, name: str) -> Any:
    """A value without what its keys lead to."""
    members = by_name(value)
    first, *rest = keys
    if members is None or first not in members:
        near = "" if members is None else did_you_mean(first, members)
        raise LikeError(path, f"{name} has no such key{near}", first, None if members is None else offer([*members]))
    inner = {first: _taken(members[first], rest, path, name)} if rest else {}
    kept = {key: inner.get(key, each) for key, each in members.items() if key != first or rest}
    return kept if isinstance(value, Mapping) else [*kept.values()]


def _over(under: Any, over: Any, path: Keys, name: str) -> Any:
    """What stands after one value was put over another, which is None where there is none."""
    if isinstance(over, list) and REST in over:
        if over.count(REST) > 1 or not isinstance(under, list):
            raise LikeError(path, f'"{REST}" stands once for the list that {name} has here', over)
        at = over.index(REST)
        return [*over[:at], *under, *over[at + 1 :]]
    above = by_name(over) if over or isinstance(over, Mapping) else None
    if above is None:
        return over
    below = (by_name(under) if type(under) is type(over) else None) or {}
    put = {**below, **{key: _over(below.get(key), each, (*path, key), name) for key, each in above.items()}}
    placed = {key: put[key] for key in _order(below, above)}
    return placed if isinstance(over, Mapping) else [*placed.values()]


def _order(below: Iterable[str], above: Iterable[str]) -> list[str]:
    """The keys of both in the order of those below, but for what is new above, or written after what is later below."""
    under = [*below]
    places = {key: place for place, key in enumerate(under)}
    furthest, last = -1, under[-1] if under else None
    new = []
    for key in above:
        place = places.get(key, -1)
        if place <= furthest:
            new.append(order.Insertion(key, last))
        furthest, last = max(place, furthest), key
    return order.arrange(under, (), new)
