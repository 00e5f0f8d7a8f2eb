"""The grammar of documents: which keys each dialect has, and what stands under them.

The reader, the quick reader and the JSON Schemas are made from these tables. What the database derives again from its
rows (`store/server`) and what `model.documents.document` writes are tested against them.

The rules are those of the GGN specification, its examples and Ggn.rb, as far as they agree; where they do not,
each dialect follows its own text: `perform` the specification, `must-deny` the examples, `diff` Ggn.rb. `gdl` is ours:
as `diff`, with any label for a square.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ggn_store.model.documents.document import CONDITION_KEYS, Dialect
from ggn_store.notation import gan, qpi

# What a value is; each has its reader, its quick reader and its definition in the JSON Schema.
ValueShape = Literal[
    "conditions", "board", "diff", "hands", "flag", "state", "guards", "action", "word", "words", "step"
]
EffectsForm = Literal["perform", "diff"]


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an object: its name, the shape of its value, whether it must be there, and what else it is."""

    name: str
    shape: ValueShape
    is_required: bool = False
    default: object = None


GrammarKeys = tuple[Key, ...]

SCHEMA_KEY: Final = "$schema"
STATE_KEY: Final = "$state"
# What stands at the top of a document and is no piece.
TOP_KEYS: Final = (SCHEMA_KEY, STATE_KEY)

ACTION: Final[GrammarKeys] = (
    Key("name", "word", True),
    Key("step", "step", default=1),
    Key("chainable", "flag", default=False),
)
VARIABLE: Final[GrammarKeys] = (
    *(Key("values", "words", True), Key("initial", "word", True)),
    *(Key("square", "word"), Key("pieces", "words")),
)
_DIFF: Final[GrammarKeys] = (Key("board", "board"), Key("hands", "hands"), Key("toggle", "flag", default=True))


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the documents of one dialect may say."""

    dialect: Dialect
    possibility: GrammarKeys
    diff: GrammarKeys = ()
    has_labels: bool = False
    has_hands: bool = True
    # Whether objects of conditions and effects may be empty.
    takes_empty: bool = True
    identifier: str = qpi.PATTERN
    identifiers: str = qpi.ALLOWED
    is_identifier: Callable[[str], bool] = qpi.is_qpi

    @property
    def conditions(self) -> tuple[str, str]:
        """The keys of what must hold and of what may not."""
        return CONDITION_KEYS[self.dialect]

    @property
    def effects(self) -> EffectsForm | None:
        """The key of what a possibility changes."""
        return next((name for name in ("perform", "diff") if name in names(self.possibility)), None)

    @property
    def has_state(self) -> bool:
        """Whether documents declare state variables."""
        return "state" in names(self.diff)


def names(keys: GrammarKeys) -> tuple[str, ...]:
    """The names of keys, in their order."""
    return tuple(key.name for key in keys)


def _conditions(dialect: Dialect) -> GrammarKeys:
    return tuple(Key(name, "conditions") for name in CONDITION_KEYS[dialect])


GRAMMARS: Final[Mapping[Dialect, Grammar]] = {
    each.dialect: each
    for each in (
        Grammar(
            "perform",
            (*_conditions("perform"), Key("perform", "board", True)),
            has_labels=True,
            has_hands=False,
            takes_empty=False,
            identifier=gan.PATTERN,
            identifiers=gan.ALLOWED,
            is_identifier=gan.is_gan,
        ),
        Grammar("must-deny", _conditions("must-deny")),
        Grammar("diff", (*_conditions("diff"), Key("diff", "diff", True)), _DIFF),
        Grammar(
            "gdl",
            (Key("action", "action"), Key("when", "guards"), *_conditions("gdl"), Key("diff", "diff", True)),
            (*_DIFF, Key("state", "state")),
            has_labels=True,
        ),
    )
}

# The keys of possibilities that only `perform`, the others, and only `gdl` have.
PERFORM_KEYS: Final = names(GRAMMARS["perform"].possibility)
OTHER_KEYS: Final = names(GRAMMARS["gdl"].possibility)
GDL_KEYS: Final = tuple(name for name in OTHER_KEYS if name not in names(GRAMMARS["diff"].possibility))
GDL_DIFF_KEYS: Final = tuple(name for name in names(GRAMMARS["gdl"].diff) if name not in names(_DIFF))
ALL_KEYS: Final = frozenset((*PERFORM_KEYS, *OTHER_KEYS, *names(GRAMMARS["gdl"].diff)))

# Keys of other versions of GGN that are seen in the wild: they get an answer of their own, never silence.
OTHER_VERSIONS: Final[Mapping[str, str]] = {
    "gain": "Ggn.rb 0.3; a gain to the hand is written in diff.hands as a positive count",
    "drop": "Ggn.rb 0.3; a drop from the hand is written in diff.hands as a negative count",
    "in_hand_add": "an early draft; a gain to the hand is written in diff.hands as a positive count",
    "board_check": "an early draft; conditions are written in must and deny (or require and prevent)",
    "board_patch": "an early draft; changes of the board are written in diff.board (or perform)",
    "board_diff": "a newer STN; changes of the board are written in diff.board",
    "first_player_hand_diff": "a newer STN; changes of a hand are written in diff.hands, by the case of the piece",
    "second_player_hand_diff": "a newer STN; changes of a hand are written in diff.hands, by the case of the piece",
}
