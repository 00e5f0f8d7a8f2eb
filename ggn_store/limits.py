"""How much a text from outside may ask for: every limit with what it bounds, in one table.

The limits are there so that a hostile or broken file ends at once in a clear message instead of taking the machine
down; they are above everything that is known to be real. Where people need more they say so, for the program with
`--limit NAME=VALUE` and in Python for a block with `allow`; a limit that formats or the store's tables set is fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import GgnStoreError, did_you_mean, quote

_MOST: Final = 1 << 53
_SETTING: Final = re.compile("([a-z-]+)=([1-9][0-9]{0,15})([KMG]?)", re.ASCII)
_settings: ContextVar[Mapping[str, int] | None] = ContextVar("ggn_store_limits", default=None)


class TooManyError(Exception):
    """There is far more wrong than anybody would read: the rest is not looked at."""


class LimitError(GgnStoreError, ValueError):
    """A limit is set that there is not, or to what it cannot be."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit by its name; `default` is the value that it has unless another one is set."""

    name: str
    default: int
    unit: str
    bounds: str
    fixed: bool = False

    @property
    def most(self) -> int:
        """The value that holds now."""
        settings = _settings.get()
        return self.default if settings is None else settings.get(self.name, self.default)

    @property
    def allowed(self) -> str:
        """The value as messages say it, with what allows more."""
        return f"at most {self.most:,}{self.more}"

    @property
    def more(self) -> str:
        """How to allow more, in parentheses behind the value."""
        return "" if self.fixed else f" (--limit {self.name}=N allows more)"


TABLE: dict[str, Limit] = {}


def _limit(name: str, default: int, unit: str, bounds: str, fixed: bool = False) -> Limit:
    limit = TABLE[name] = Limit(name, default, unit, bounds, fixed)
    return limit


# Documents, and JSON as a whole.
DOCUMENT_BYTES: Final = _limit(
    "document-bytes", 64 << 20, "bytes", "a document, unpacked: a file, standard input, or a line of NDJSON"
)
NESTING: Final = _limit("nesting", 64, "levels", "objects and lists of JSON inside one another", fixed=True)
MEMBERS: Final = _limit("members", 100_000, "members", "one object or list of JSON")
VALUES: Final = _limit("values", 8_000_000, "values", "objects, lists and their members in one JSON text")
PROBLEMS: Final = _limit("problems", 1_000, "problems", "what is reported of one document; the rest is counted")
PIECES: Final = _limit("pieces", 10_000, "pieces", "a document")
POSSIBILITIES: Final = _limit("possibilities", 20_000_000, "possibilities", "a document, or what a definition makes")
LANES: Final = _limit(
    "lanes",
    1 << 15,
    "lanes",
    "the conditions of a piece's possibilities from one square, of which a lane has up to 63",
    fixed=True,
)
SQUARES: Final = _limit("squares", 65_536, "squares", "a document, a board, a position", fixed=True)
LABEL: Final = _limit(
    "label", 255, "characters", "the label of a square, a piece, a name or value of a state", fixed=True
)
VARIABLES: Final = _limit("variables", 1_000, "variables", "the state that a document declares")
VARIABLE_VALUES: Final = _limit("variable-values", 1_000, "values", "one state variable, or one guard on it")
STREAM_LINES: Final = _limit("stream-lines", 1_000_000, "lines", "a stream of documents (NDJSON)")

# Definitions of games.
DEFINITION_BYTES: Final = _limit(
    "definition-bytes", 1_000_000, "bytes", "a TOML file: the definition of a game, or what stands beside a document"
)
KEY_DEPTH: Final = _limit("key-depth", 32, "parts", "a dotted key of TOML")
LIKES: Final = _limit("likes", 8, "games", "what a definition or game description is `like`, one after the other")
DEFINITION_LIST: Final = _limit("definition-list", 2_500, "entries", "one list of texts in a definition")
DEFINITION_TABLES: Final = _limit("definition-tables", 250, "entries", "one list of tables in a definition")
DEFINITION_SQUARES: Final = _limit("definition-squares", 2_500, "squares", "the board of a definition")
ZONE_SQUARES: Final = _limit(
    "zone-squares", 500_000, "squares", "all zones and lists of squares of a definition together"
)
BETZA_LENGTH: Final = _limit("betza-length", 1_000, "characters", "a Betza string")
BETZA_LEGS: Final = _limit("betza-legs", 6, "legs", "one move of a Betza string")
BETZA_WAYS: Final = _limit("betza-ways", 1_000, "ways", "the ways of one Betza string: directions times what legs do")
PIECE_POSSIBILITIES: Final = _limit(
    "piece-possibilities", 2_000_000, "possibilities", "one piece of a definition, as estimated before it is generated"
)
PIECE_CONDITIONS: Final = _limit(
    "piece-conditions", 30_000_000, "conditions", "one piece of a definition, as estimated before it is generated"
)
VARIANTS_BYTES: Final = _limit("variants-bytes", 5_000_000, "bytes", "a variants.ini")
VARIANTS_SECTIONS: Final = _limit("variants-sections", 1_000, "sections", "a variants.ini")
VARIANTS_OPTIONS: Final = _limit("variants-options", 500, "options", "a section of a variants.ini")
VARIANTS_LINE: Final = _limit("variants-line", 20_000, "characters", "a line of a variants.ini")

# Game descriptions.
DESCRIPTION_BYTES: Final = _limit("description-bytes", 2 << 20, "bytes", "a game description (JSON)")
DESCRIPTION_MEMBERS: Final = _limit("description-members", 1_000, "members", "one list or object of a game description")
DESCRIPTION_NODES: Final = _limit("description-nodes", 1_024, "places", "the topology of a game description")
DESCRIPTION_TEXT: Final = _limit("description-text", 20_000, "characters", "a text of a game description")
DESCRIPTION_DEPTH: Final = _limit("description-depth", 64, "levels", "an expression of a game description", fixed=True)
DESCRIPTION_VALUES: Final = _limit(
    "description-values", 256, "values", "one variable or attribute of a game description"
)
DESCRIPTION_KINDS: Final = _limit("description-kinds", 200, "kinds", "what the entities of a game description can be")
GROUNDING: Final = _limit("grounding", 250_000, "nodes", "what one action needs to know, as a decision diagram")
GROUNDED: Final = _limit("grounded-possibilities", 5_000_000, "possibilities", "what a game description compiles to")
GROUNDED_ENTRY: Final = _limit(
    "grounded-entry", 10_000, "possibilities", "one action of a game description from one place to another"
)

# Bundles, which are read line by line: a line is at most one piece, all else is kept by digest alone.
BUNDLE_LINE: Final = _limit("bundle-line", 64 << 20, "bytes", "a line of a bundle, which is at most one piece")
BUNDLE_BYTES: Final = _limit("bundle-bytes", 16 << 30, "bytes", "a bundle, unpacked")
BUNDLE_RATIO: Final = _limit("bundle-ratio", 200, "times", "what a bundle beyond 64 MiB unpacks to, by its size")
BUNDLE_LINES: Final = _limit("bundle-lines", 1_000_000, "lines", "a bundle")
BUNDLE_SQUARES: Final = _limit("bundle-squares", 5_000_000, "squares", "the boards of a bundle together")
BUNDLE_REVIEWS: Final = _limit("bundle-reviews", 64 << 20, "bytes", "what was said in reviews, in all of a bundle")

# Positions, moves, pictures and policies.
POSITION_BYTES: Final = _limit("position-bytes", 1_000_000, "bytes", "a position as JSON, or a line of positions")
POSITION_TEXT: Final = _limit("position-text", 4_096, "characters", "a position as one line of text", fixed=True)
GAME_BYTES: Final = _limit("game-bytes", 1_000_000, "bytes", "a game that was played, as PGN or JSON")
HAND: Final = _limit("hand", 1_000_000, "pieces", "a kind of piece in a hand", fixed=True)
CHAIN_STEPS: Final = _limit("chain-steps", 100, "steps", "a chain of moves")
CHAINS: Final = _limit("chains", 100_000, "chains", "a position that is asked for chains")
PERFT_DEPTH: Final = _limit("perft-depth", 500, "moves", "a path that perft counts", fixed=True)
DRAWN_SQUARES: Final = _limit("drawn-squares", 4_096, "squares", "a board in a picture, or on a page")
COMPARED: Final = _limit(
    "compared-possibilities", 20_000_000, "possibilities", "the pieces that differ in two revisions that are compared"
)
POLICY_POSITIONS: Final = _limit("policy-positions", 1_000, "positions", "a policy")


@contextmanager
def allow(settings: Mapping[str, int]) -> Iterator[None]:
    """Set limits by their names for what this thread does in the block; others stay as they are.

    Raises LimitError for a name that no limit has, one that is fixed, and a value that is no positive number.
    """
    for name, value in settings.items():
        _check(name, value)
    token = _settings.set({**(_settings.get() or {}), **settings})
    try:
        yield
    finally:
        _settings.reset(token)


def current() -> Mapping[str, int]:
    """What is set now, by name: to be handed to `allow` in another process."""
    return dict(_settings.get() or {})


def parse(settings: Iterable[str]) -> Mapping[str, int]:
    """Settings as `NAME=VALUE`, of which the last one of a name counts; K, M and G stand for powers of 1,000, or of
    1,024 where the unit is bytes. Raises LimitError."""
    found = {}
    for each in settings:
        match = _SETTING.fullmatch(each)
        if match is None:
            raise LimitError(f"{quote(each)} sets no limit: write NAME=VALUE, such as {PIECES.name}=20000")
        name, digits, scale = match.groups()
        limit = TABLE.get(name)
        base = 1_024 if limit is not None and limit.unit == "bytes" else 1_000
        found[name] = int(digits) * base ** " KMG".index(scale or " ")
        _check(name, found[name])
    return found


def _check(name: str, value: int) -> None:
    limit = TABLE.get(name)
    if limit is None:
        hint = did_you_mean(name, TABLE) or ":"
        raise LimitError(f"there is no limit {quote(name)}{hint} the limits are {', '.join(adjustable())}")
    if limit.fixed:
        raise LimitError(f"the limit {name} is fixed: formats and the store's tables set it to {limit.default:,}")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
        raise LimitError(f"the limit {name} is a whole number from 1 to {_MOST:,}, not {quote(value)}")


def adjustable() -> list[str]:
    """The names of the limits that can be set."""
    return [limit.name for limit in TABLE.values() if not limit.fixed]
