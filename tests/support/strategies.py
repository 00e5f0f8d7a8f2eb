"""Random valid documents of each dialect, and positions in which a good part of their possibilities hold."""

import re
from typing import Any, Literal, NamedTuple

from hypothesis import strategies as st

DIALECTS = ("perform", "must-deny", "diff", "gdl")
HAND = "*"

# Small boards, so that conditions meet pieces; the last square of each is far off, which leaves gaps.
BOARDS = (
    ("a", "b", "c", "d", "e", "aa"),
    ("a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "aa10"),
    ("a1A", "a1B", "a2A", "a2B", "b1A", "b1B", "b2A", "b2B", "c3C"),
)
# Labels mean nothing in `perform`: these differ from one another by case, by accent form or by a blank, or
# look like something that a database, a formatter or this package itself could take for its own.
LABELS = (
    *("e4", "E4", "e4 ", " e4", "5e", "0", "\u00e9", "e\u0301", "Straße", "strasse", "北", "♞🙂"),
    *("tab\there", "two\nlines", "it's", 'say "hi"', "100%", "%s", ":name", "?", "{0}", "back\\slash"),
    *("a/b~c", "NULL", "null", "true", "**", "_", "x'); DROP TABLE piece; --", "[1,2]", "empty", "enemy"),
    *("perform", "$schema", "CHESS:P", "long" * 60),
)
# Names and values mean nothing: these are easily taken for others, for squares, or for parts of a statement.
VARIABLES: dict[str, tuple[str, ...]] = {
    "ep": ("3", "4", "none", "None", "*"),
    "phase": ("main", "setup"),
    "e4 ": ("empty", "e\u0301", "\u00e9", "x'); DROP TABLE guard; --"),
}
ACTIONS = ("move", "Move", "man_jump", "北 to 'south'", "$state", "\u00e9")
STYLES = ("C", "S", "CHESS", "X1", "SHOGI")
OUTSIDE = (("g", "zz"), ("d4", "z1"), ("d4D", "a1D"))
CELL = (re.compile("[a-z]+"), re.compile("[a-z]+[1-9][0-9]*"), re.compile("[a-z]+[1-9][0-9]*[A-Z]+"))
ABSENT = ""

BOOLEANS = st.booleans()
SOME_VALUES = st.fixed_dictionaries({}, optional={name: st.sampled_from(each) for name, each in VARIABLES.items()})
SEVERAL_VALUES = st.fixed_dictionaries(
    {}, optional={name: st.lists(st.sampled_from(each), min_size=1, unique=True) for name, each in VARIABLES.items()}
)

Json = dict[str, Any]
Side = Literal["first", "second"]
Plain = tuple[dict[str, str | None], dict[str, int] | None, Side]
Entry = tuple[str, str, str]


class Question(NamedTuple):
    """What to ask of one position beside all its moves."""

    placed: Entry
    """An entry whose piece is in place, if there is one, to be asked about for both sides."""
    other: Entry | None
    narrowing: tuple[str, ...]
    """By which names of `placed` the moves of the position are narrowed down."""


class Case(NamedTuple):
    """A document with positions, and a question for each of them."""

    document: Json
    positions: list[Plain]
    questions: list[Question]
    states: list[dict[str, str]]
    """The values of state variables in each position, some of them or all."""


def entries(document: Json) -> list[Entry]:
    return [
        (piece, source, destination)
        for piece, sources in document.items()
        if not piece.startswith("$")
        for source, destinations in sources.items()
        for destination in destinations
    ]


def some(choices: list[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(choices), min_size=1, max_size=most, unique=True)


@st.composite
def identifiers(draw: st.DrawFn, dialect: str) -> list[str]:
    """A few pieces of both sides that are easily mistaken for one another: other marks, same letter."""
    styles = draw(some(list(STYLES), 2))
    letters = draw(st.sampled_from(("P", "P", "K", "KP")))
    kinds = [f"{style}:%s{letter}%s" for style in styles for letter in letters]
    marks = ("",) if dialect == "perform" else ("", "", "^", "'", "^'")
    one = st.tuples(st.sampled_from(kinds), st.sampled_from(("", "", "+", "-")), st.sampled_from(marks))
    chosen = draw(st.lists(one, min_size=1, max_size=4, unique=True))
    first = [kind % (state, mark) for kind, state, mark in chosen]
    both = [*first, *(piece.lower() for piece in first)]
    return draw(st.permutations(both))[: max(2, len(both) - 1)]


def lookalikes(piece: str) -> list[str]:
    """Valid identifiers that differ from a piece in one thing: side, state, mark, style or letter."""
    style, _, rest = piece.partition(":")
    letter = rest.strip("+-^'")
    state, mark = rest.split(letter)
    states = [f"{style}:{other}{letter}{mark}" for other in ("", "+", "-") if other != state]
    marks = [f"{style}:{state}{letter}{other}" for other in ("", "^", "'") if other != mark]
    letters = [f"{style}:{state}{'q' if piece.islower() else 'Q'}{mark}"]
    styles = [f"{style}1:{rest}", f"{style[0]}:{rest}" if len(style) > 1 else f"{style}{style}:{rest}"]
    return [piece.swapcase(), *states, *marks, *letters, *styles]


class Parts:
    """What the possibilities of one document are drawn from. To make a strategy takes longer than to draw from it."""

    def __init__(self, dialect: str, squares: list[str], pieces: list[str]) -> None:
        self.dialect = dialect
        square, hand = st.sampled_from(squares), [] if dialect == "perform" else [HAND]
        states = st.sampled_from(["empty", "empty", "enemy", "enemy", *pieces])
        self.must = st.dictionaries(square, states, max_size=3)
        self.deny = st.dictionaries(square, states, max_size=2)
        self.board = st.dictionaries(square, st.sampled_from([None, *pieces]), max_size=2)
        self.hands = st.dictionaries(st.sampled_from(pieces), st.sampled_from((1, -1, 2, -3)), max_size=2)
        self.toggle = st.sampled_from((None, None, False, True))
        self.pieces, self.sources = some(pieces, 4), some([*hand, *squares], 4)
        self.destinations, self.from_hand = some([*squares, *hand], 4), some(squares, 4)
        self.count = st.integers(1, 3)
        self.action, self.step = st.sampled_from(ACTIONS), st.sampled_from((1, 2, 2.0, 1_000_000))


@st.composite
def possibilities(draw: st.DrawFn, dialect: str, entry: Entry, squares: list[str], pieces: list[str]) -> Json:
    """One object of a destination array: up to three conditions to hold, up to two that must not."""
    return possibility(draw, Parts(dialect, squares, pieces), entry)


def possibility(draw: st.DrawFn, parts: Parts, entry: Entry) -> Json:
    piece, source, destination = entry
    dialect = parts.dialect
    must, deny = draw(parts.must), draw(parts.deny)
    if must.get(source) == piece:
        del must[source]
    deny = {square: state for square, state in deny.items() if must.get(square) != state}
    names = ("require", "prevent") if dialect == "perform" else ("must", "deny")
    empty_maps = dialect != "perform" and draw(BOOLEANS)
    result: Json = {name: m for name, m in zip(names, (must, deny), strict=True) if m or empty_maps}
    if dialect != "must-deny":
        moved: dict[str, str | None] = {source: None, destination: piece}
        board = moved if draw(BOOLEANS) else {}
        board |= draw(parts.board)
        board.pop(HAND, None)
        if dialect == "perform":
            result["perform"] = board or moved
        else:
            result["diff"] = diff(draw, parts, entry, board)
    if dialect == "gdl":
        result |= marks(draw, parts)
        if draw(BOOLEANS):
            result["diff"] = {**result["diff"], "state": draw(SOME_VALUES)}
    return dict(reversed(result.items())) if draw(BOOLEANS) else result


def marks(draw: st.DrawFn, parts: Parts) -> Json:
    """The action that a possibility comes from, and guards on state variables; either may be missing."""
    result: Json = {}
    if draw(BOOLEANS):
        result["action"] = {"name": draw(parts.action)}
        if draw(BOOLEANS):
            result["action"]["step"] = draw(parts.step)
        if draw(BOOLEANS):
            result["action"]["chainable"] = draw(BOOLEANS)
    if draw(BOOLEANS):
        result["when"] = draw(SEVERAL_VALUES)
    return result


def diff(draw: st.DrawFn, parts: Parts, entry: Entry, board: dict[str, str | None]) -> Json:
    """Board, hands and toggle, each of them sometimes absent, the maps sometimes empty."""
    piece, source, destination = entry
    result: Json = {}
    if draw(BOOLEANS) or board:
        result["board"] = board
    hands = draw(parts.hands)
    if HAND in (source, destination):
        hands = {piece: -1 if source == HAND else 1, **hands}
    if draw(BOOLEANS) or hands:
        result["hands"] = hands
    toggle = draw(parts.toggle)
    return result if toggle is None else {"toggle": toggle, **result}


@st.composite
def documents(draw: st.DrawFn, dialect: str) -> Json:
    """A valid document: 1-4 pieces, sources and destinations at each level, then 1-3 possibilities."""
    is_labelled = dialect in ("perform", "gdl")
    board = draw(st.sampled_from([*BOARDS, LABELS, LABELS] if is_labelled else BOARDS))
    squares = draw(st.lists(st.sampled_from(board), min_size=2, max_size=6, unique=True))
    pieces = draw(identifiers(dialect))
    parts = Parts(dialect, squares, pieces)
    document: Json = {}
    if draw(st.sampled_from((False, False, False, True))):
        document["$schema"] = "https://example.org/ggn.json"
    if dialect == "gdl":
        document["$state"] = {
            name: {"values": draw(st.permutations(values)), "initial": draw(st.sampled_from(values))}
            for name, values in VARIABLES.items()
        }
    for piece in draw(parts.pieces):
        document[piece] = {}
        for source in draw(parts.sources):
            document[piece][source] = {}
            for destination in draw(parts.from_hand if source == HAND else parts.destinations):
                entry = (piece, source, destination)
                array = [possibility(draw, parts, entry) for _ in range(draw(parts.count))]
                document[piece][source][destination] = array
    return document


def stateless(document: Json) -> Json:
    """A document without variables, and without what is said of them; of other dialects than `gdl`, itself."""
    if "$state" not in document:
        return document
    result: Json = {**document, "$state": {}}
    for piece, sources in document.items():
        if not piece.startswith("$"):
            result[piece] = {
                source: {square: [_stateless(each) for each in array] for square, array in destinations.items()}
                for source, destinations in sources.items()
            }
    return result


def _stateless(possibility: Json) -> Json:
    diff = {key: value for key, value in possibility["diff"].items() if key != "state"}
    return {key: value for key, value in possibility.items() if key != "when"} | {"diff": diff}


def named(document: Json) -> tuple[list[str], list[str]]:
    """The squares and the piece identifiers that a document mentions anywhere."""
    squares: dict[str, None] = {}
    pieces: dict[str, None] = {}
    for piece, source, destination in entries(document):
        pieces[piece] = squares[source] = squares[destination] = None
        for possibility in document[piece][source][destination]:
            maps = [value for key, value in possibility.items() if key not in ("diff", "action", "when")]
            maps.append(possibility.get("diff", {}).get("board", {}))
            for square, state in ((square, state) for each in maps for square, state in each.items()):
                squares[square] = None
                if state not in (None, "empty", "enemy"):
                    pieces[state] = None
            pieces |= dict.fromkeys(possibility.get("diff", {}).get("hands", {}))
    squares.pop(HAND, None)
    return list(squares), list(pieces)


def outside(squares: list[str]) -> tuple[str, ...]:
    """Squares that the document does not mention, of the same kind as those that it does."""
    for pattern, others in zip(CELL, OUTSIDE, strict=True):
        if all(pattern.fullmatch(square) for square in squares):
            return others
    return ("elsewhere", "ELSEWHERE")


@st.composite
def positions(draw: st.DrawFn, document: Json) -> Plain:
    """Three times in four built around a possibility of the document; at times a square is then changed."""
    squares, mentioned = named(document)
    pieces = list(dict.fromkeys(each for piece in mentioned for each in (piece, piece.swapcase())))
    anything = st.sampled_from([None, ABSENT, ABSENT, *mentioned])
    board: dict[str, str | None] = {}
    side: Side = draw(st.sampled_from(("first", "second")))
    held: dict[str, int] = {}
    if draw(st.sampled_from((True, True, True, False))):
        piece, source, destination = draw(st.sampled_from(entries(document)))
        side = "first" if piece[0].isupper() else "second"
        possibility = draw(st.sampled_from(document[piece][source][destination]))
        if source == HAND:
            held[piece] = 1
        else:
            board[source] = piece
        must = possibility.get("must", possibility.get("require", {}))
        deny = possibility.get("deny", possibility.get("prevent", {}))
        for square, state in must.items():
            board.setdefault(square, draw(st.sampled_from(meeting(state, side, pieces))))
        for square, state in deny.items():
            avoiding = [each for each in (None, ABSENT, *pieces) if each not in meeting(state, side, pieces)]
            board.setdefault(square, draw(st.sampled_from(avoiding)))
        if draw(BOOLEANS):
            exact = {square: state for square, state in (must | deny).items() if ":" in state}
            square = draw(st.sampled_from([*exact, *exact, *board, squares[0]]))
            alike = lookalikes(exact.get(square) or board.get(square) or pieces[0])
            board[square] = draw(st.sampled_from(alike) if draw(BOOLEANS) else anything)
    for square in squares:
        if square not in board:
            board[square] = draw(anything)
    if draw(st.sampled_from((False, False, False, True))):
        board[draw(st.sampled_from(outside(squares)))] = draw(st.sampled_from(pieces))
    board = {square: piece for square, piece in board.items() if piece != ABSENT}
    kind = draw(st.sampled_from(("unknown", "empty", "held", "filled", "filled", "mistaken")))
    if kind == "filled":
        held |= draw(st.dictionaries(st.sampled_from(pieces), st.integers(0, 3), min_size=1, max_size=3))
    if kind == "mistaken":
        drops = [piece for piece, source, _ in entries(document) if source == HAND]
        alike = [each for piece in drops or pieces[:1] for each in lookalikes(piece)]
        held = draw(st.dictionaries(st.sampled_from(alike), st.integers(1, 3), min_size=1, max_size=3))
    return board, {"unknown": None, "empty": {}}.get(kind, held), side


def meeting(state: str, side: str, pieces: list[str]) -> list[str | None]:
    """What can stand on a square for a condition on it to be met."""
    if state == "empty":
        return [None, ABSENT]
    if state == "enemy":
        return [piece for piece in pieces if piece[0].isupper() != (side == "first")]
    return [state]


NARROWINGS = (
    *((), (), (), ("piece",), ("source",), ("destination",), ("piece", "source")),
    *(("source", "destination"), ("piece", "destination"), ("piece", "source", "destination")),
)


@st.composite
def cases(draw: st.DrawFn, dialect: str, count: int) -> Case:
    """A document with that many positions."""
    document = draw(documents(dialect))
    listed = entries(document)
    drawn = [draw(positions(document)) for _ in range(count)]
    states = [draw(SOME_VALUES) if dialect == "gdl" else {} for _ in drawn]
    questions = []
    for board, _, _ in drawn:
        placed = [each for each in listed if each[1] == HAND or board.get(each[1]) == each[0]]
        entry = draw(st.sampled_from(placed or listed))
        other = draw(st.sampled_from((None, None, draw(st.sampled_from(listed)))))
        questions.append(Question(entry, other, draw(st.sampled_from(NARROWINGS))))
    return Case(document, drawn, questions, states)
