"""The views: what there is to ask with SQL, column by column.

The migrations make the views (a test compares the two); help, the guide to SQL and `sql --schema` are made from this.
It is read for `--help`, and imports nothing that is slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ggn_store.store.schema.concepts import CONCEPTS

Type = Literal["text", "integer", "boolean", "time"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a view; booleans are 0 and 1 in SQLite, times texts there, in UTC."""

    name: str
    type: Type
    meaning: str


@dataclass(frozen=True, slots=True)
class View:
    """A view; `every` is the name of the one with the same columns for all revisions, None where it has them itself."""

    name: str
    row: str
    columns: tuple[Column, ...]
    every: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def of_pieces(self) -> View | None:
        """The rows of a piece once, however many revisions list it; None where a view has no rows of pieces."""
        if "possibility" not in self.names:
            return None
        return View(self._of_pieces, self.row, self.columns[2:], None)

    @property
    def joined(self) -> str:
        """The query for the rows of a view from those of pieces, in the SQL of any engine."""
        columns = ", ".join(f"rules.{name}" for name in self.names[2:])
        listed = f"v_pieces AS listed JOIN {self._of_pieces} AS rules ON rules.piece_id = listed.piece_id"
        return f"SELECT listed.ruleset, listed.revision, {columns} FROM {listed}"  # noqa: S608

    @property
    def _of_pieces(self) -> str:
        return self.name.replace("v_", "piece_", 1)


def _view(name: str, row: str, columns: tuple[Column, ...], has_all: bool = True) -> View:
    return View(name, row, columns, f"{name}_all" if has_all else None)


_RULESET = Column("ruleset", "text", "the name of the ruleset")
_REVISION = Column("revision", "integer", "the number of its revision, from 1")
_PIECE = Column("piece", "text", "the identifier of the piece, such as C:+P")
_SIDE = Column("side", "text", "whose piece it is: first or second")
_SOURCE = Column("source", "text", "the square that it moves from; * is the hand")
_DESTINATION = Column("destination", "text", "the square that it moves to; * is the hand")
_ORDINAL = Column("ordinal", "integer", "which of the possibilities of this source and destination, from 0")
_DIGEST = Column("digest", "text", "SHA-256 of the content: equal where the rules are")
_LINEAGE = Column("lineage", "text", "SHA-256 of the content and all the history before it")
_SIGNED = (
    Column("author", "text", "who made the revision; NULL where nobody said"),
    Column("message", "text", "why; NULL where nobody said"),
    Column("created_at", "time", "when it was stored, in UTC"),
)
_PLACE = (_RULESET, _REVISION, _PIECE, _SOURCE, _DESTINATION, _ORDINAL)
_PIECE_ID = Column("piece_id", "integer", "the key of the stored piece, which several revisions may share")
_KEY = (_PIECE_ID, Column("possibility", "integer", "its number within the piece, in document order, from 0"))

# Of a piece that cannot be compared with others (see the guide to analyses) they are NULL.
_FACTS = (
    Column("movement", "text", "a fingerprint of how it moves, equal where it is, mirrored or not; NULL without any"),
    Column("whole_movement", "text", "the same with what its moves change, and drops"),
    Column("words", "text", "how it moves, in words"),
    Column("rides", "boolean", "whether it goes over empty squares by different numbers of steps"),
    Column("leaps", "boolean", "whether it moves in another way; castling is neither"),
    Column("hops", "boolean", "whether it moves where a piece must stand between on its line, and none elsewhere"),
    Column("squares", "integer", "how many squares it moves from"),
    Column("total", "integer", "how many destinations these have, alone on the board but for an enemy there"),
    Column("quiet", "integer", "how many of these on an empty board"),
    Column("capturing", "integer", "how many of these with an enemy there"),
    Column("reach", "integer", "the most squares that it gets to from one, in any number of moves, that one with them"),
    Column(
        "colours",
        "text",
        "bound as a bishop, alternating as a knight, or free, of the three of hexagons, too; NULL without coordinates "
        "and in a network",
    ),
    Column("displacing", "integer", "how many possibilities capture what stands on their destination"),
    Column("elsewhere", "integer", "how many capture on another square, which they empty"),
    Column("by_another", "integer", "how many capture on another square, which another own piece comes to"),
    Column("either", "integer", "how many may capture, since nothing says what must stand where they change something"),
    Column("promoting", "integer", "how many make another piece of it"),
    Column("castling", "integer", "how many move another own piece, too"),
    Column("off_path", "integer", "how many squares they ask about that are not source, destination or between"),
)

VIEWS: Final[tuple[View, ...]] = (
    _view(
        "v_rulesets",
        "a ruleset",
        (
            _RULESET,
            _REVISION,
            Column("title", "text", "what the game is called; NULL where nothing says"),
            Column("source", "text", "who says that these are the rules; NULL where nothing does"),
            Column("dialect", "text", "the shape of its document: perform, must-deny, diff or gdl"),
            Column("board", "text", "the board's shape, such as 8x8; NULL where squares are only listed"),
            Column(
                "start",
                "text",
                "the start position in FEEN, in JSON where FEEN cannot write the board; NULL without one",
            ),
            Column("state", "text", "active, deprecated or retired"),
            Column("successor", "text", "the ruleset to be used instead of one that is not active, or NULL"),
            Column("pieces", "integer", "how many pieces it lists"),
            Column("possibilities", "integer", "how many possibilities these have"),
            Column("revisions", "integer", "how many revisions the ruleset has"),
            _DIGEST,
            _LINEAGE,
            *_SIGNED,
            Column("variables", "text", "the state variables of the dialect gdl, as JSON; NULL where it has none"),
            Column("conditions", "integer", "how many conditions its possibilities have"),
            Column("host_duties", "text", "what is left to the players, separated by commas; NULL where nothing is"),
            Column("tier", "text", "the tier that a line of its definition says, from A to D; NULL where none does"),
        ),
    ),
    _view(
        "v_pieces",
        "a piece of a ruleset",
        (
            _RULESET,
            _REVISION,
            _PIECE,
            _SIDE,
            Column("style", "text", "what stands before the colon, in upper case"),
            Column("letter", "text", "the letter of the piece, in upper case"),
            Column("state", "text", "the mark before the letter: +, - or nothing (an empty text)"),
            Column("terminal", "boolean", "whether it is marked ^: the game ends with it"),
            Column("derived", "boolean", "whether it is marked ': of a derived style"),
            Column("ordinal", "integer", "its place in the document, from 0"),
            Column("sources", "integer", "how many sources it has rules for, the hand among them"),
            Column("destinations", "integer", "how many destinations these have, all together"),
            Column("possibilities", "integer", "how many possibilities it has"),
            Column("conditions", "integer", "how many conditions these have"),
            _DIGEST,
            _PIECE_ID,
            *_FACTS,
            Column(
                "layout",
                "text",
                "how its squares lie: network, or of hexagons what definitions call it; NULL of squares, and where no "
                "definition or description says it",
            ),
        ),
    ),
    _view(
        "v_moves",
        "a possibility: a way for a piece to go from a source to a destination",
        (
            _RULESET,
            _REVISION,
            _PIECE,
            _SIDE,
            _SOURCE,
            _DESTINATION,
            _ORDINAL,
            Column(
                "requires", "text", "what must stand on the destination: empty, enemy, a piece; NULL where anything may"
            ),
            Column("toggle", "boolean", "whether the turn passes; NULL in the dialect must-deny, which has no effects"),
            Column("is_drop", "boolean", "whether the piece comes from the hand"),
            *_KEY,
            Column("action", "text", "the action that it comes from; NULL where the document names none"),
            Column("step", "integer", "which of the possibilities of that action here it is, from 1, or NULL"),
            Column("chainable", "boolean", "whether the piece may go on within the turn, or NULL"),
            Column("file", "integer", "the file of the source, as in v_squares; NULL from the hand"),
            Column("rank", "integer", "the rank of the source"),
            Column("layer", "integer", "the layer of the source"),
            Column("dx", "integer", "by how many files it goes to the right; NULL where one of the two is no square"),
            Column("dy", "integer", "by how many ranks it goes up, as the first side sees it"),
            Column("dz", "integer", "by how many layers it goes up"),
            Column(
                "capture",
                "text",
                "displacing, elsewhere, by_another or either, of which v_pieces has the counts; NULL where it is none",
            ),
            Column("promotes", "boolean", "whether it makes another piece of it"),
        ),
    ),
    _view(
        "v_squares",
        "a square of a ruleset's board",
        (
            _RULESET,
            _REVISION,
            Column("square", "text", "its label"),
            Column("number", "integer", "its number on the board, from 0"),
            Column("file", "integer", "from 1, which is a; NULL where the labels of the board are not all coordinates"),
            Column("rank", "integer", "from 1; NULL as well on a board of one dimension"),
            Column("layer", "integer", "from 1, which is A; NULL as well on a flat board"),
        ),
    ),
    _view(
        "v_conditions",
        "a condition of a possibility",
        (
            *_PLACE,
            Column("polarity", "text", "must: it has to hold; deny: it must not"),
            Column("square", "text", "the square that is looked at"),
            Column("state", "text", "what stands there: empty, enemy, or the identifier of a piece"),
            *_KEY,
        ),
    ),
    _view(
        "v_effects",
        "one thing that a possibility changes",
        (
            *_PLACE,
            Column("kind", "text", "square: what becomes of a square; hand: how a hand changes"),
            Column("square", "text", "the square that changes; NULL of a hand"),
            Column("becomes", "text", "the piece that stands there then; NULL where it is emptied, and of a hand"),
            Column("held", "text", "the piece whose count in its side's hand changes; NULL of a square"),
            Column("delta", "integer", "by how much the count changes; NULL of a square"),
            *_KEY,
        ),
    ),
    _view(
        "v_guards",
        "a value that a state variable may have for a possibility to hold",
        (
            *_PLACE,
            Column("variable", "text", "the state variable that is asked for"),
            Column("value", "text", "a value that it may have; one of them is enough"),
            *_KEY,
        ),
    ),
    _view(
        "v_state_effects",
        "a state variable that a possibility changes",
        (
            *_PLACE,
            Column("variable", "text", "the state variable that changes"),
            Column("value", "text", "the value that it has then"),
            *_KEY,
        ),
    ),
    _view(
        "v_duties",
        "a duty: what a game forbids or asks for beyond these moves",
        (
            _RULESET,
            _REVISION,
            Column("duty", "text", "the name of the duty, such as royal-safety"),
            Column("piece", "text", "a piece that it is about; NULL where it is about all"),
            Column("is_left", "boolean", "whether it is left to the players, and no answer takes account of it"),
        ),
    ),
    _view(
        "v_reverts",
        "a mark that a piece loses when its own side is next to move",
        (
            _RULESET,
            _REVISION,
            Column("marked", "text", "the identifier of the piece with its mark, such as C:-P"),
            Column("plain", "text", "what it is then, such as C:P"),
        ),
    ),
    _view(
        "v_crossings",
        "a square that a move crosses, and that must not be attacked: castling",
        (
            _RULESET,
            _REVISION,
            _PIECE,
            _SOURCE,
            _DESTINATION,
            Column("ordinal", "integer", "its place on the way, from 0"),
            Column("square", "text", "the square"),
        ),
    ),
    _view(
        "v_outcomes",
        "a way in which a game ends",
        (
            _RULESET,
            _REVISION,
            Column("ordinal", "integer", "its place among them, from 0: the first that holds counts"),
            Column("decided_by", "text", "what decides it, such as no-move, extinct, goal, line, checks, repetition"),
            Column("verdict", "text", "win, loss or draw, for the side that it is about"),
            Column("side", "text", "the only side that it is about; NULL for both"),
            Column("pieces", "text", "the pieces that it is about, separated by commas; NULL where it is about all"),
            Column("squares", "text", "the squares that it is about, separated by commas, or NULL"),
            Column("count", "integer", "how many, or NULL"),
            Column("in_check", "boolean", "whether the side has to be in check, or must not be; NULL for either"),
            Column("safe", "boolean", "whether the squares must be such that nothing is taken there, or NULL"),
            Column("answered", "boolean", "whether the other side may still move once, or NULL"),
            Column("other", "integer", "how many the other side has at least, or NULL"),
            Column("perpetual", "boolean", "whether a side that always checked loses instead, or NULL"),
            Column("edges", "text", "what one group has to join, each its squares, separated by commas, or NULL"),
            Column("ways", "text", "the steps that join squares, separated by commas, or NULL"),
        ),
    ),
    _view(
        "v_concepts",
        "a ruleset, with its concepts: what it has, and how much of it",
        (_RULESET, _REVISION, *(Column(each.name, each.type, each.meaning) for each in CONCEPTS)),
    ),
    _view(
        "v_history",
        "a revision of a ruleset, all that there are",
        (
            _RULESET,
            _REVISION,
            Column("parent", "integer", "the number of the revision that it came after; NULL of the first"),
            Column("merged", "integer", "the number of the second one that it unites with that, or NULL"),
            _DIGEST,
            _LINEAGE,
            *_SIGNED,
            Column("tags", "text", "the tags that point to it now, separated by commas, or NULL"),
        ),
        has_all=False,
    ),
)

_POSITION = Column("position", "integer", "the number of the position, from 0")
_MOVE = (
    _RULESET,
    _REVISION,
    _POSITION,
    _PIECE,
    _SIDE,
    _SOURCE,
    _DESTINATION,
    _ORDINAL,
    Column("piece_id", "integer", "the key of the stored piece; NULL of a pass, which is no possibility"),
    Column("possibility", "integer", "its number within the piece, as in v_moves; NULL of a pass"),
)

# Of positions that are given with a query: no store has them.
POSITION_VIEWS: Final[tuple[View, ...]] = (
    _view(
        "positions",
        "a piece on a square of a position, or in a hand",
        (
            _POSITION,
            Column("square", "text", "where it is; * is the hand"),
            _PIECE,
            _SIDE,
            Column("count", "integer", "how many of it are there: more than 1 only in a hand"),
        ),
        has_all=False,
    ),
    _view("moves", "a move that a position allows, by the rules of its piece", _MOVE, has_all=False),
    _view("legal_moves", "a move that all duties of the game let pass", _MOVE, has_all=False),
)

# The tables that the views are made of, which `sql` can ask as well.
SQL_TABLES: Final[dict[str, str]] = {
    "board": "a set of squares",
    "square": "a square of a board, with its number, label and coordinates",
    "ruleset": "a name",
    "revision": "a content that a ruleset has had",
    "revision_merge": "the second parent of a revision",
    "revision_piece": "that a revision lists a piece",
    "piece": "a distinct piece, by its digest",
    "source": "a square (or NULL, the hand) that rules of a piece start from",
    "destination": "a square (or NULL, the hand) that they lead to",
    "variant": "a possibility",
    "condition": "a state of a square that must hold, or must not",
    "effect": "what becomes of a square",
    "hand_effect": "how a hand changes",
    "variant_origin": "the action that a possibility of the dialect gdl comes from",
    "guard": "a value that a state variable may have for a possibility",
    "state_effect": "the value that a state variable has after it",
    "lane": "derived: what a piece can reach from a square, as bits over facts",
    "piece_summary": "derived: how much is in a piece",
    "piece_facts": "derived: how a piece moves",
    "piece_check": "that `db check` found a piece sound, and when",
    "tag": "where a tag was set, or removed",
    "ruleset_state": "what a ruleset was said to be",
    "ruleset_rename": "what a ruleset was called before",
    "policy": "what the revisions of a namespace must be like",
    "proposal": "what is to be the next revision of a ruleset",
    "proposal_piece": "that a proposal lists a piece",
    "verdict": "what became of a proposal",
    "review_record": "what was said in a review in another store",
    "audit": "a change, as triggers have written it down",
}
