"""A SQL-backed database of board-game moves: GGN documents in, pseudo-legal moves out.

The public names are loaded when they are first used: importing the package must stay quick, because the command
line does it for `--help`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggn_store.api.bundles import BundledRuleset, BundleSummary, verify_bundle
    from ggn_store.api.exports import Exported, ViewRows
    from ggn_store.api.games import (
        HOST_DUTIES,
        Definition,
        Game,
        GameEntry,
        find_game,
        generate,
        generate_parts,
        library_files,
        library_games,
        read_definition,
        read_files,
    )
    from ggn_store.api.incoming import SpecificationEntry
    from ggn_store.api.loading import Loaded
    from ggn_store.api.positions import read_board, read_hands, read_positions
    from ggn_store.api.ruleset import Ruleset
    from ggn_store.api.specifications import (
        check_specifications,
        compile_specification,
        read_specification_file,
    )
    from ggn_store.api.store import Info, Store, ruleset
    from ggn_store.api.table import Table
    from ggn_store.documents.convert import convert, left_out
    from ggn_store.documents.files import File, find_files
    from ggn_store.documents.ggn import is_valid, parse, problems
    from ggn_store.documents.lint import lint
    from ggn_store.documents.schema import json_schema
    from ggn_store.errors import (
        ConflictError,
        ConversionError,
        DocumentError,
        GateError,
        GgnStoreError,
        HeadMovedError,
        InputError,
        MoveError,
        NotationError,
        PictureError,
        PositionError,
        Problem,
        QueryError,
        SpecificationError,
        SpecificationProblem,
        StoreError,
        StoreVersionError,
        UnknownNameError,
    )
    from ggn_store.games.fairy.settings import Refusal
    from ggn_store.games.fairy.variants import Variant, read_variants
    from ggn_store.gdl.check import SpecificationCheck, check_specification, read_specification
    from ggn_store.gdl.compile import Compiled
    from ggn_store.gdl.kinds import Kind
    from ggn_store.gdl.specification import Specification
    from ggn_store.model.bounds import SqlBounds
    from ggn_store.model.care import Collected, Comparison, Unused, Verification
    from ggn_store.model.chain import Chain, captures_first
    from ggn_store.model.diff import diff
    from ggn_store.model.difference import Difference
    from ggn_store.model.document import Document
    from ggn_store.model.event import ACTIONS, Event
    from ggn_store.model.history import Blame, Changes, LogEntry
    from ggn_store.model.merge import Conflict, Merge, merge
    from ggn_store.model.move import Move
    from ggn_store.model.policy import Policy, PositionSet, Rules
    from ggn_store.model.position import Position
    from ggn_store.model.proposal import Proposal, Verdict
    from ggn_store.model.revision import Revision, RulesetState, Summary
    from ggn_store.model.tag import Tag
    from ggn_store.model.transfer import DivergedError, Transferred
    from ggn_store.notation.stn import Transition
    from ggn_store.store.schema.views import SQL_TABLES, VIEWS
    from ggn_store.store.server.roles import Role, Roles
    from ggn_store.store.sql.examples import SQL_EXAMPLES

_HOMES = {
    "ggn_store.api.bundles": ("BundleSummary", "BundledRuleset", "verify_bundle"),
    "ggn_store.api.exports": ("Exported", "ViewRows"),
    "ggn_store.api.games": (
        "HOST_DUTIES",
        "Definition",
        "Game",
        "GameEntry",
        "find_game",
        "generate",
        "generate_parts",
        "library_files",
        "library_games",
        "read_definition",
        "read_files",
    ),
    "ggn_store.api.loading": ("Loaded",),
    "ggn_store.api.positions": ("read_board", "read_hands", "read_positions"),
    "ggn_store.api.ruleset": ("Ruleset",),
    "ggn_store.api.incoming": ("SpecificationEntry",),
    "ggn_store.api.specifications": ("check_specifications", "compile_specification", "read_specification_file"),
    "ggn_store.api.store": ("Info", "Store", "ruleset"),
    "ggn_store.api.table": ("Table",),
    "ggn_store.documents.convert": ("convert", "left_out"),
    "ggn_store.documents.files": ("File", "find_files"),
    "ggn_store.documents.ggn": ("is_valid", "parse", "problems"),
    "ggn_store.documents.lint": ("lint",),
    "ggn_store.documents.schema": ("json_schema",),
    "ggn_store.errors": (
        "ConflictError",
        "ConversionError",
        "DocumentError",
        "GateError",
        "GgnStoreError",
        "HeadMovedError",
        "InputError",
        "MoveError",
        "NotationError",
        "PictureError",
        "PositionError",
        "Problem",
        "QueryError",
        "SpecificationError",
        "SpecificationProblem",
        "StoreError",
        "StoreVersionError",
        "UnknownNameError",
    ),
    "ggn_store.games.fairy.settings": ("Refusal",),
    "ggn_store.games.fairy.variants": ("Variant", "read_variants"),
    "ggn_store.gdl.check": ("SpecificationCheck", "check_specification", "read_specification"),
    "ggn_store.gdl.compile": ("Compiled",),
    "ggn_store.gdl.kinds": ("Kind",),
    "ggn_store.gdl.specification": ("Specification",),
    "ggn_store.model.bounds": ("SqlBounds",),
    "ggn_store.model.diff": ("diff",),
    "ggn_store.model.difference": ("Difference",),
    "ggn_store.model.document": ("Document",),
    "ggn_store.model.history": ("Blame", "Changes", "LogEntry"),
    "ggn_store.model.merge": ("Conflict", "Merge", "merge"),
    "ggn_store.model.chain": ("Chain", "captures_first"),
    "ggn_store.model.care": ("Collected", "Comparison", "Unused", "Verification"),
    "ggn_store.model.event": ("ACTIONS", "Event"),
    "ggn_store.model.move": ("Move",),
    "ggn_store.model.policy": ("Policy", "PositionSet", "Rules"),
    "ggn_store.model.position": ("Position",),
    "ggn_store.model.proposal": ("Proposal", "Verdict"),
    "ggn_store.model.revision": ("Revision", "RulesetState", "Summary"),
    "ggn_store.model.transfer": ("DivergedError", "Transferred"),
    "ggn_store.model.tag": ("Tag",),
    "ggn_store.notation.stn": ("Transition",),
    "ggn_store.store.server.roles": ("Role", "Roles"),
    "ggn_store.store.sql.examples": ("SQL_EXAMPLES",),
    "ggn_store.store.schema.views": ("SQL_TABLES", "VIEWS"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ACTIONS",
    "HOST_DUTIES",
    "SQL_EXAMPLES",
    "SQL_TABLES",
    "VIEWS",
    "Blame",
    "BundleSummary",
    "BundledRuleset",
    "Chain",
    "Changes",
    "Collected",
    "Comparison",
    "Compiled",
    "Conflict",
    "ConflictError",
    "ConversionError",
    "Definition",
    "Difference",
    "DivergedError",
    "Document",
    "DocumentError",
    "Event",
    "Exported",
    "File",
    "Game",
    "GameEntry",
    "GateError",
    "GgnStoreError",
    "HeadMovedError",
    "Info",
    "InputError",
    "Kind",
    "Loaded",
    "LogEntry",
    "Merge",
    "Move",
    "MoveError",
    "NotationError",
    "PictureError",
    "Policy",
    "Position",
    "PositionError",
    "PositionSet",
    "Problem",
    "Proposal",
    "QueryError",
    "Refusal",
    "Revision",
    "Role",
    "Roles",
    "Rules",
    "Ruleset",
    "RulesetState",
    "Specification",
    "SpecificationCheck",
    "SpecificationEntry",
    "SpecificationError",
    "SpecificationProblem",
    "SqlBounds",
    "Store",
    "StoreError",
    "StoreVersionError",
    "Summary",
    "Table",
    "Tag",
    "Transferred",
    "Transition",
    "UnknownNameError",
    "Unused",
    "Variant",
    "Verdict",
    "Verification",
    "ViewRows",
    "captures_first",
    "check_specification",
    "check_specifications",
    "compile_specification",
    "convert",
    "diff",
    "find_files",
    "find_game",
    "generate",
    "generate_parts",
    "is_valid",
    "json_schema",
    "left_out",
    "library_files",
    "library_games",
    "lint",
    "merge",
    "parse",
    "problems",
    "read_board",
    "read_definition",
    "read_files",
    "read_hands",
    "read_positions",
    "read_specification",
    "read_specification_file",
    "read_variants",
    "ruleset",
    "verify_bundle",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
