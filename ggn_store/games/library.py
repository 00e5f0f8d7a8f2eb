"""The games that come with the package: their definitions, and what is in each without generating it."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ggn_store import resources
from ggn_store.errors import GgnStoreError, UnknownNameError, did_you_mean, offer, quote

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition

# Well-known games that are loaded together in a few seconds.
STARTER: Final = ("chess", "makruk", "minishogi", "tic-tac-toe", "xiangqi")
INDEX: Final = "index.csv"


@dataclass(frozen=True, slots=True)
class Game:
    """What the index says of a game.

    `duties` are what it asks for beyond its moves, `host` what it leaves to whoever plays it, `sha256` is of the
    canonical text of its document, and the counts are of its pieces, possibilities and conditions.
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

    def data(self) -> dict[str, Any]:
        """The game as JSON data."""
        return asdict(self)


def directory() -> Path:
    """Where the definitions are."""
    return resources.directory("data") / "games"


def names() -> list[str]:
    """The names of all games of the library."""
    return sorted(path.stem for path in directory().glob("*.toml"))


def path_of(name: str) -> Path:
    """The file that defines a game of the library; raises UnknownNameError, naming the nearest names."""
    known = names()
    if name in known:
        return directory() / f"{name}.toml"
    hint = did_you_mean(name.lower(), known) or f"; it has {offer(known)}"
    raise UnknownNameError(f"the library has no game {quote(name)}{hint} (`ggn-store list --library` shows all)")


def read_game(name: str) -> Definition:
    """The definition of a game of the library; raises UnknownNameError, naming the nearest names."""
    from ggn_store.games import definition as definitions

    path = path_of(name)
    return definitions.read(path.read_bytes(), str(path))


@functools.cache
def index() -> Mapping[str, Game]:
    """What is in each game, by name, from a file that is written with the library."""
    try:
        with (directory() / INDEX).open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            if rows.fieldnames != [field.name for field in fields(Game)]:
                raise ValueError("it has other columns")
            return {row["name"]: _game(row) for row in rows}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        raise GgnStoreError(f"the library's index cannot be read ({error}): install ggn-store again") from None


def _game(row: Mapping[str, Any]) -> Game:
    known = {each.name: row[each.name] for each in fields(Game)}
    counts = {name: int(row[name]) for name in ("pieces", "possibilities", "conditions")}
    words = {name: tuple(row[name].split()) for name in ("duties", "host")}
    return Game(**known | counts | words | {"tier": row["tier"] or None})
