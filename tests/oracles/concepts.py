"""Concepts: of a document in plain Python, from its JSON; and of games, written by hand from their rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.oracles.reference import HAND, Json

Row = Mapping[str, Any]

# --- a document ---


def possibilities(sources: Json) -> Iterator[tuple[str, Json]]:
    """Each possibility of a piece, with its source."""
    for source, destinations in sources.items():
        for array in destinations.values():
            for possibility in array:
                yield source, possibility


def of_document(
    document: Json, pieces: Sequence[Row], squares: Sequence[Row], played: Mapping[str, Sequence[Row]]
) -> Row:
    """The concepts of a document, without those that compare movements.

    `pieces` and `squares` are the rows of their views, `played` those of v_duties and v_outcomes, made in plain Python.
    """
    rules = {piece: [*possibilities(sources)] for piece, sources in document.items() if not piece.startswith("$")}
    axes = {axis: {row[axis] for row in squares} - {None} for axis in ("file", "rank", "layer")}
    box = 1
    for values in axes.values():
        box *= len(values) or 1
    found: dict[str, Any] = {
        "board_squares": len(squares),
        **{f"{axis}s": len(values) for axis, values in axes.items()},
        "rectangular": bool(axes["file"]) and box == len(squares),
        "network": not axes["file"],
        "pieces": len(pieces),
        "styles": len({row["style"] for row in pieces}),
        "letters": len({row["letter"] for row in pieces}),
        "possibilities": sum(map(len, rules.values())),
    }

    def count(name: str, holds: Any) -> None:
        found[name] = sum(bool(holds(row, rules[row["piece"]])) for row in pieces)

    def captures(row: Row) -> int:
        return sum(row[kind] for kind in ("displacing", "elsewhere", "by_another", "either"))

    count("terminal_pieces", lambda row, _: row["terminal"])
    count("enhanced_pieces", lambda row, _: row["state"] == "+")
    count("diminished_pieces", lambda row, _: row["state"] == "-")
    count("riders", lambda row, _: row["rides"])
    count("leapers", lambda row, _: row["leaps"])
    count("hoppers", lambda row, _: row["hops"])
    count("rider_leapers", lambda row, _: row["rides"] and row["leaps"])
    count("colour_bound", lambda row, _: row["colours"] == "bound")
    count("colour_alternating", lambda row, _: row["colours"] == "alternating")
    count("confined", lambda row, _: row["reach"] is not None and row["reach"] < len(squares))
    count("divergent", lambda row, _: captures(row) and row["quiet"] and row["quiet"] != row["capturing"])
    count("capturers", lambda row, _: captures(row) > 0)
    count("non_capturers", lambda row, _: captures(row) == 0)
    count("pure_capturers", lambda row, _: row["quiet"] == 0 and row["capturing"])
    count("displacement_capture", lambda row, _: row["displacing"])
    count("remote_capture", lambda row, _: row["elsewhere"])
    count("capture_by_another", lambda row, _: row["by_another"])
    count("undecided_capture", lambda row, _: row["either"])
    count("drops", lambda _, each: any(source == HAND for source, _ in each))
    count("to_hand", lambda _, each: any(held > 0 for _, of in each for held in _diff(of).get("hands", {}).values()))
    count("promotion", lambda row, _: row["promoting"])
    count("castlers", lambda row, _: row["castling"])
    count("extra_turns", lambda _, each: any(_diff(of).get("toggle", True) is False for _, of in each))
    count("conditions_off_path", lambda row, _: row["off_path"])
    count("state_variables", lambda _, each: any(of.get("when") for _, of in each))
    count("chains", lambda _, each: any(of.get("action", {}).get("chainable") for _, of in each))

    duties = played.get("v_duties", ())
    of_duty = {row["duty"] for row in duties}
    found |= {duty.replace("-", "_"): duty in of_duty for duty in DUTIES}
    found["left_to_players"] = sum(row["is_left"] for row in duties)
    ends = [(row["decided_by"], row["verdict"], row["in_check"]) for row in played.get("v_outcomes", ())]
    for end in ENDS:
        found[f"ends_by_{end.replace('-', '_')}"] = any(by == end for by, *_ in ends)
    found["ends_by_bare"] |= any(
        (row["decided_by"], row["count"], row["pieces"]) == ("extinct", 1, None) for row in played.get("v_outcomes", ())
    )
    found["checkmate"] = {"royal-safety", "no-checks"} & of_duty == {"royal-safety"} and any(
        (by, verdict) == ("no-move", "loss") and in_check in (None, True) for by, verdict, in_check in ends
    )
    for name, end in (("draws", "draw"), ("loses", "loss"), ("wins", "win")):
        found[f"stalemate_{name}"] = any(
            (by, verdict) == ("no-move", end) and in_check in (None, False) for by, verdict, in_check in ends
        )
    return found


def _diff(possibility: Json) -> Json:
    found: Json = possibility.get("diff", {})
    return found


DUTIES: Final = (
    *("royal-safety", "flying-general", "duple-check", "spare-royal", "clear-marks", "mandatory-capture"),
    *("mandatory-drop", "no-checks", "no-flight", "no-leap-from-check", "no-drop-checks", "no-drop-mate", "pass"),
    *("promotion-limit", "royal-promotion-limit"),
)
ENDS: Final = (
    *(
        "no-move",
        "extinct",
        "bare",
        "material",
        "goal",
        "line",
        "checks",
        "facing",
        "repetition",
        "quiet",
        "connection",
    ),
)

# --- games, from their rules ---

# What the table speaks of: a game has those of its row, and none of the others.
JUDGED: Final = {
    *("riders", "leapers", "hoppers", "colour_bound", "colour_alternating", "divergent", "non_capturers"),
    *("remote_capture", "drops", "to_hand", "promotion", "castlers", "unequal_sides", "network"),
    *("royal_safety", "flying_general", "mandatory_capture", "no_checks", "pass", "state_variables", "chains"),
    *("ends_by_line", "ends_by_goal", "ends_by_bare", "ends_by_checks", "checkmate"),
}
_ORTHODOX = {"riders", "leapers", "colour_bound", "divergent", "promotion", "royal_safety", "checkmate"}
_KNIGHT = {"colour_alternating"}
_CHESS = _ORTHODOX | _KNIGHT | {"castlers", "remote_capture"}
_IN_A_ROW = {"drops", "ends_by_line", "non_capturers"}
_SHOGI = {"riders", "leapers", "colour_bound", "colour_alternating", "drops", "to_hand", "promotion"}
_MATED = {"royal_safety", "checkmate"}

# The board's files, ranks and layers, and what there is.
SMALL: Final[dict[str, tuple[tuple[int, int, int], set[str]]]] = {
    "tic-tac-toe": ((3, 3, 0), _IN_A_ROW),
    "connect-four": ((7, 6, 0), _IN_A_ROW),
    # Each piece goes to an orthogonal neighbour that is an enemy, and nowhere else.
    "clobber": ((5, 6, 0), {"leapers", "colour_alternating"}),
    # Forward to three empty squares, captures on two of them.
    "breakthrough": ((8, 8, 0), {"leapers", "divergent", "ends_by_goal"}),
    # All on the diagonals, one step; only the fox goes back.
    "fox-and-hounds": ((8, 8, 0), {"leapers", "colour_bound", "non_capturers", "unequal_sides", "ends_by_goal"}),
    # The elephant goes diagonally, the giraffe orthogonally, and no piece further than a step. Lions are taken.
    "dobutsu": (
        (3, 4, 0),
        {"leapers", "colour_bound", "colour_alternating", "drops", "to_hand", "promotion", "ends_by_goal"},
    ),
    "micro": ((4, 5, 0), _SHOGI | _MATED),
    "gardner": ((5, 5, 0), _ORTHODOX | _KNIGHT),
    # No bishops; a pawn makes one step.
    "losalamos": ((6, 6, 0), (_ORTHODOX | _KNIGHT) - {"colour_bound"}),
    "kyotoshogi": ((5, 5, 0), _SHOGI | _MATED),
}
LARGE: Final[dict[str, tuple[tuple[int, int, int], set[str]]]] = {
    "chess": ((8, 8, 0), _CHESS),
    "crazyhouse": ((8, 8, 0), _CHESS | {"drops", "to_hand"}),
    "3check": ((8, 8, 0), _CHESS | {"ends_by_checks"}),
    "kingofthehill": ((8, 8, 0), _CHESS | {"ends_by_goal"}),
    # Kings are no more than other pieces; nobody castles.
    "antichess": ((8, 8, 0), _CHESS - {"castlers"} - _MATED | {"mandatory_capture"}),
    # No pawns, no castling, and nobody gives check.
    "racingkings": (
        (8, 8, 0),
        {"riders", "leapers", "colour_bound", "colour_alternating", "royal_safety", "no_checks", "ends_by_goal"},
    ),
    # The army of the first side has pawns only, and no king.
    "horde": ((8, 8, 0), _CHESS | {"unequal_sides"}),
    # No double steps, so nothing is taken in passing.
    "grasshopper": ((8, 8, 0), (_CHESS | {"hoppers"}) - {"remote_capture"}),
    "cwda-fide-clobberers": ((8, 8, 0), _CHESS | {"unequal_sides"}),
    # Pawns step diagonally forward and to the left, and capture straight on and to the left.
    "legan": ((8, 8, 0), _ORTHODOX | _KNIGHT),
    "shouse": ((8, 8, 0), _CHESS | {"drops", "to_hand"}),
    # Bare kings lose; pawns make one step.
    "shatranj": ((8, 8, 0), _ORTHODOX | _KNIGHT | {"ends_by_bare"}),
    # No castling; pawns step straight on, a side of a hexagon, and go to another colour.
    "glinski": ((11, 11, 0), _ORTHODOX | _KNIGHT | {"remote_capture"}),
    # A wizard, a camel that steps diagonally, stays on its colour; 10x10 and four corners.
    "omega": ((12, 12, 0), _CHESS),
    # Soldiers do not promote. Cannons capture as they do not move.
    "xiangqi": (
        (9, 10, 0),
        (_ORTHODOX | _KNIGHT | {"hoppers", "flying_general"}) - {"promotion"},
    ),
    # The cannon moves as it captures; the elephant is a long leaper, and nobody is bound to a colour.
    "janggi": ((9, 10, 0), {"riders", "leapers", "hoppers", "colour_alternating", "pass"} | _MATED),
    "raumschach": ((5, 5, 5), _ORTHODOX | _KNIGHT),
    "minishogi": ((5, 5, 0), _SHOGI | _MATED),
}
DESCRIBED: Final[dict[str, tuple[tuple[int, int, int], set[str]]]] = {
    # Men jump over men and take them; a jump may be followed by another.
    "checkers": (
        (8, 8, 0),
        {"leapers", "hoppers", "colour_bound", "divergent", "remote_capture", "promotion", "mandatory_capture"}
        | {"state_variables", "chains"},
    ),
    # Guards step and capture forward; riders leap over enemies, as often as they can, and slide. No hexagon touches one
    # of its colour.
    "hexguard": (
        (7, 7, 0),
        {
            "colour_alternating",
            "leapers",
            "riders",
            "hoppers",
            "divergent",
            "remote_capture",
            "promotion",
            "state_variables",
            "chains",
        },
    ),
    # Men are placed, go along lines, and fly with three left; what has made a mill, a mark, takes a man from anywhere.
    "nine-mens-morris": (
        (7, 7, 0),
        {"network", "leapers", "drops", "non_capturers", "promotion", "state_variables"},
    ),
    # Crows step and never take; the vulture jumps over one, and takes it.
    "kaooa": (
        (7, 5, 0),
        {"network", "leapers", "hoppers", "drops", "non_capturers", "remote_capture", "divergent", "unequal_sides"},
    ),
    # Only officers capture, and not where boats take them. Who is loaded is marked, as who promotes is.
    "contraband": ((0, 0, 0), {"network", "non_capturers", "divergent", "promotion", "state_variables"}),
}
