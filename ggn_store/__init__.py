"""A SQL-backed database of board-game moves: GGN documents in, pseudo-legal moves out.

The names that a first script needs; others are in `ggn_store.errors`, `ggn_store.model`, `ggn_store.documents`,
`ggn_store.games` and `ggn_store.gdl`. They are loaded when they are first used: importing the package must stay quick,
because the command line does it for `--help`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggn_store.api.loading.games import find_game as find_game
    from ggn_store.api.loading.games import read_definition as read_definition
    from ggn_store.api.loading.private import ruleset as ruleset
    from ggn_store.api.ruleset import Ruleset as Ruleset
    from ggn_store.api.store import Store as Store
    from ggn_store.columnar.view_files import register_views as register_views
    from ggn_store.documents.convert import convert as convert
    from ggn_store.documents.ggn import is_valid as is_valid
    from ggn_store.documents.ggn import parse as parse
    from ggn_store.documents.ggn import problems as problems
    from ggn_store.documents.lint import lint as lint
    from ggn_store.errors import ConflictError as ConflictError
    from ggn_store.errors import DocumentError as DocumentError
    from ggn_store.errors import GgnStoreError as GgnStoreError
    from ggn_store.errors import InputError as InputError
    from ggn_store.errors import MoveError as MoveError
    from ggn_store.errors import PositionError as PositionError
    from ggn_store.errors import QueryError as QueryError
    from ggn_store.errors import StoreError as StoreError
    from ggn_store.errors import UnknownNameError as UnknownNameError
    from ggn_store.games.generate import generate as generate
    from ggn_store.model.changes.diff import diff as diff
    from ggn_store.model.changes.merge import merge as merge
    from ggn_store.model.documents.document import Document as Document
    from ggn_store.model.moves.move import Move as Move
    from ggn_store.model.moves.position import Position as Position

_HOMES = {
    "ggn_store.api.loading.games": ("find_game", "read_definition"),
    "ggn_store.games.generate": ("generate",),
    "ggn_store.api.loading.private": ("ruleset",),
    "ggn_store.api.ruleset": ("Ruleset",),
    "ggn_store.api.store": ("Store",),
    "ggn_store.columnar.view_files": ("register_views",),
    "ggn_store.documents.convert": ("convert",),
    "ggn_store.documents.ggn": ("is_valid", "parse", "problems"),
    "ggn_store.documents.lint": ("lint",),
    "ggn_store.errors": (
        "ConflictError",
        "DocumentError",
        "GgnStoreError",
        "InputError",
        "MoveError",
        "PositionError",
        "QueryError",
        "StoreError",
        "UnknownNameError",
    ),
    "ggn_store.model.changes.diff": ("diff",),
    "ggn_store.model.documents.document": ("Document",),
    "ggn_store.model.changes.merge": ("merge",),
    "ggn_store.model.moves.move": ("Move",),
    "ggn_store.model.moves.position": ("Position",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
if not TYPE_CHECKING:  # which sees the imports above
    __all__ = [*_HOME_OF]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return list(_HOME_OF)
