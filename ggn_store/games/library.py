"""The games that come with the package: their definitions, and what is in each without generating it.

Game descriptions are games of the library, too, under `gdl/`. What people look for leads to games by `families.toml`.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ggn_store import resources
from ggn_store.errors import GgnStoreError, UnknownNameError, did_you_mean, offer, quote
from ggn_store.notation import toml

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition

# Well-known games that are loaded together in a few seconds.
STARTER: Final = ("chess", "makruk", "minishogi", "tic-tac-toe", "xiangqi")
INDEX: Final = "index.csv"
FAMILIES: Final = "families.toml"
DESCRIPTIONS: Final = "gdl"
# Games that take as much of a store as all others together, and are loaded by their names only.
LARGE: Final = "large"


@dataclass(frozen=True, slots=True)
class LibraryGame:
    """What the index says of a game.

    `duties` are what it asks for beyond its moves, `host` what it leaves to whoever plays it, `sha256` is of the
    canonical text of its document, and the counts are of its pieces, possibilities and conditions. `families` and
    `also`, other names of the game, are what it is found by.
    """

    name: str
    title: str
    board: str
    tier: str | None
    duties: tuple[str, ...]
    host: tuple[str, ...]
    pieces: int
    possibilities: int
    conditions: int
    sha256: str
    families: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """The game as JSON data."""
        return asdict(self)


# What the index has of it.
COLUMNS: Final = [field.name for field in fields(LibraryGame)][:-2]


def directory() -> Path:
    """Where the definitions are."""
    return resources.directory("data") / "games"


def names() -> list[str]:
    """The names of all games of the library."""
    return sorted(path.stem for path in directory().glob("*.toml"))


def descriptions() -> list[str]:
    """The names of all game descriptions of the library, such as `gdl/checkers`."""
    return sorted(f"{DESCRIPTIONS}/{path.stem}" for path in (directory().parent / DESCRIPTIONS).glob("*.json"))


def large() -> list[str]:
    """The names of the games that are too large for the others' company, such as `large/tai-shogi`."""
    return sorted(f"{LARGE}/{path.stem}" for path in (directory().parent / LARGE).glob("*.toml"))


def full_name(name: str) -> str:
    """The name of a game in the library: of what is in a folder the name alone will do, if no other game has it."""
    if not isinstance(name, str):
        raise UnknownNameError(f"{quote(name)} is not the name of a game")
    if name in names():
        return name
    return next((each for each in (*descriptions(), *large()) if each.partition("/")[2] == name), name)


def path_of(name: str) -> Path:
    """The file that defines a game of the library; raises UnknownNameError, naming the nearest names."""
    if name in names():
        return directory() / f"{name}.toml"
    if name in large():
        return directory().parent / f"{name}.toml"
    raise unknown(name)


def unknown(name: str) -> UnknownNameError:
    """What to say of a name that no game has: the games that it leads to, or the nearest name."""
    known = names()
    found = find(name)
    hint = f"; by this word there is {offer(found)}" if found else did_you_mean(name.lower(), known)
    hint = hint or f"; it has {offer(known)}"
    return UnknownNameError(f"the library has no game {quote(name)}{hint} (`ggn-store list --library` shows all)")


def find(text: str) -> list[str]:
    """The games that a text leads to: those of a family, or with these words in their name or another name of theirs.

    Case does not count. An empty list where there is none.
    """
    wanted = text.casefold()
    words, found = _words(wanted), []
    for game in index().values():
        called = (game.name, *game.families, *game.also, *(word for each in game.families for word in _also(each)))
        told = _words(" ".join((game.name, game.title, *game.also)).casefold())
        if wanted in map(str.casefold, called) or (words and all(word in told for word in words)):
            found.append(game.name)
    return found


def _words(text: str) -> list[str]:
    return text.replace("-", " ").replace("/", " ").split()


def _also(family: str) -> tuple[str, ...]:
    """Other words for a family."""
    return tuple(_families()[family].get("also", ()))


@functools.cache
def _families() -> Mapping[str, Mapping[str, Any]]:
    return dict(_groups()["families"])


@functools.cache
def _groups() -> Mapping[str, Any]:
    return toml.load((directory().parent / FAMILIES).read_text("utf-8"))


def read_game(name: str) -> Definition:
    """The definition of a game of the library; raises UnknownNameError, naming the nearest names."""
    from ggn_store.games import definition as definitions

    path = path_of(name)
    return definitions.read(path.read_bytes(), str(path))


@functools.cache
def index() -> Mapping[str, LibraryGame]:
    """What is in each game, by name, from a file that is written with the library."""
    try:
        with (directory() / INDEX).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            if rows.fieldnames != COLUMNS:
                raise ValueError("it has other columns")
            return {row["name"]: _game(row) for row in rows}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        raise GgnStoreError(f"the library's index cannot be read ({error}): install ggn-store again") from None


def _game(row: Mapping[str, Any]) -> LibraryGame:
    known = {name: row[name] for name in COLUMNS}
    counts = {name: int(row[name]) for name in ("pieces", "possibilities", "conditions")}
    words = {name: tuple(row[name].split()) for name in ("duties", "host")}
    families = tuple(name for name, family in _families().items() if row["name"] in family["games"])
    found = {"families": families, "also": tuple(_groups()["names"].get(row["name"], ()))}
    return LibraryGame(**known | counts | words | found | {"tier": row["tier"] or None})
