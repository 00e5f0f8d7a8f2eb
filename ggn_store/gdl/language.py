"""The words of the language: its functions, and the words of games that no move database can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BOOL: Final = "a condition"
INT: Final = "a number"
TEXT: Final = "a text"
PLAYER: Final = "a player"
ENTITY: Final = "an entity"
NODE: Final = "a place"
NULL: Final = "null"
ANY: Final = "anything"
EFFECT: Final = "an effect"
BOARD: Final = "the board"
STATE: Final = "the state"

# The kind of a value by the type that a specification declares for it.
KINDS: Final = {"string": TEXT, "int": INT, "bool": BOOL, "player_ref": PLAYER}


@dataclass(frozen=True, slots=True)
class Function:
    """What a function takes and gives; where it is `open`, the last argument may be repeated."""

    arguments: tuple[str, ...]
    result: str
    is_open: bool = False
    optional: int = 0

    @property
    def least(self) -> int:
        """How many arguments it needs."""
        return len(self.arguments) - self.optional

    def takes(self, number: int) -> bool:
        """Whether it can be called with so many arguments."""
        return self.least <= number and (self.is_open or number <= len(self.arguments))

    @property
    def most(self) -> int | None:
        """How many arguments it takes; None for any number."""
        return None if self.is_open else len(self.arguments)


FUNCTIONS: Final = {
    "eq": Function((ANY, ANY), BOOL),
    "ne": Function((ANY, ANY), BOOL),
    "gt": Function((INT, INT), BOOL),
    "lt": Function((INT, INT), BOOL),
    "gte": Function((INT, INT), BOOL),
    "lte": Function((INT, INT), BOOL),
    "and": Function((BOOL,), BOOL, is_open=True),
    "or": Function((BOOL,), BOOL, is_open=True),
    "not": Function((BOOL,), BOOL),
    "abs": Function((INT,), INT),
    "sub": Function((INT, INT), INT),
    "add": Function((INT,), INT, is_open=True),
    "mul": Function((INT,), INT, is_open=True),
    "mod": Function((INT, INT), INT),
    "mid_pos": Function((NODE, NODE), NODE),
    "path_clear": Function((NODE, NODE, PLAYER), BOOL, optional=1),
    "only_between": Function((NODE, NODE), ENTITY),
    "count_on_line": Function((NODE, NODE), INT),
    "in_row": Function((NODE, INT), BOOL),
    "adjacent": Function((NODE, NODE), BOOL),
    "special_connection": Function((NODE, NODE), BOOL),
    "other_player": Function((PLAYER,), PLAYER),
    "opponent_of": Function((PLAYER,), PLAYER),
    "player": Function((TEXT,), PLAYER),
    "node": Function((ANY, ANY, ANY), NODE, optional=2),
    "if": Function((BOOL, ANY, ANY), ANY),
}
EFFECTS: Final = {
    "set": Function((ANY, ANY), EFFECT),
    "if": Function((BOOL, EFFECT, EFFECT), EFFECT, optional=1),
    "remove_entity": Function((ENTITY,), EFFECT),
}
# What stands in the hand, for an action from there and for the setup.
HAND: Final = "hand"
NAMES: Final = {"start": NODE, "target": NODE, "entity": ENTITY, "board": BOARD, "state": STATE}

CARDS: Final = "cards and zones are kept nowhere: a position has the places of a board, and hands of pieces"
HIDDEN: Final = "hidden information is not possible: both sides see the whole position"
RANDOM: Final = "chance is not possible: a move has one outcome"
RESOURCES: Final = "what players own besides pieces is kept nowhere: a position has a board, hands and global variables"
BOUNDLESS: Final = "a position keeps one of a few values of it: declare its values, or min and max"
SIDES: Final = "games have exactly two sides, the first and the second player"
TEXTS: Final = "texts are never computed: an attribute or a variable has one of a few values"
WHOLE_BOARD: Final = "conditions on the whole board are not possible: a rule can ask for squares that it names"


def _reasons(words: Mapping[str, str]) -> Mapping[str, str]:
    """Each word with its reason, of reasons with the words that they are for."""
    return {word: reason for reason, listed in words.items() for word in listed.split()}


_CARD_FUNCTIONS: Final = """
zone top top_card bottom_card draw_card draw_cards deal deal_cards discard hand move_card move_cards move_entity
move_to_zone
"""
_BOARD_FUNCTIONS: Final = """
all any count size exists entities entities_of_player get_all_legal_moves_for king_captured is_in_check
"""
REFUSED_FUNCTIONS: Final = _reasons(
    {
        CARDS: _CARD_FUNCTIONS,
        RANDOM: "random random_int random_choice randint roll roll_die roll_dice shuffle shuffle_zone",
        TEXTS: "concat format upper lower",
        HIDDEN: "visible_to can_view reveal hide",
        SIDES: "next_player previous_player",
        WHOLE_BOARD: _BOARD_FUNCTIONS,
    }
)
REFUSED_NAMES: Final = _reasons(
    {CARDS: "card cards deck discard discard_pile hand hand_zone zone", RESOURCES: "amount"}
)
REFUSED_STEPS: Final = _reasons(
    {
        CARDS: "deal deal_card deal_cards draw_card draw_cards move_card move_cards create_zone",
        RANDOM: "shuffle shuffle_zone shuffle_deck roll_dice spawn_random",
    }
)
REFUSED_KEYS: Final = _reasons({HIDDEN: "visibility visible visible_to card_back", RANDOM: "shuffle random"})
