"""Concepts: what a ruleset has and how much of it, each with a definition and the SQL that finds it.

Each is a column of v_concepts, which a migration makes in a way that is faster; tests hold the two against each other.
Read for `--help` like `views`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ggn_store.model.moves.play import DUTIES, OUTCOMES, PREFERENCES, When

QUERY: Final = (
    "SELECT r.ruleset, {expression} AS {name} FROM v_rulesets r "
    "LEFT JOIN v_pieces p ON p.ruleset = r.ruleset LEFT JOIN piece_summary s ON s.piece_id = p.piece_id "
    "GROUP BY r.ruleset"
)
_OF: Final = "SELECT {} FROM {} x WHERE x.ruleset = r.ruleset{}"


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept; its SQL is an expression of the rows that `QUERY` joins.

    Games agree in one that is a size (`is_size`) where it is equal, and in any other where both have it.
    """

    name: str
    type: Literal["integer", "boolean"]
    meaning: str
    sql: str
    is_size: bool = False

    @property
    def query(self) -> str:
        """The statement that finds it in the newest revisions."""
        return QUERY.format(expression=self.sql, name=self.name)


def _size(name: str, meaning: str, sql: str) -> Concept:
    return Concept(name, "integer", meaning, sql, is_size=True)


def _pieces(name: str, meaning: str, condition: str) -> Concept:
    return Concept(name, "integer", f"how many pieces {meaning}", f"count(*) FILTER (WHERE {condition})")


def _has(name: str, meaning: str, view: str, condition: str) -> Concept:
    return Concept(name, "boolean", meaning, _IN.format(view, condition))


def _of(view: str, column: str, condition: str = "") -> str:
    return _OF.format(column, view, condition and f" AND {condition}")


# A view of a server is replaced in place, which takes new columns at its end only.
_LATER: Final[tuple[When, ...]] = ("connection",)


def _end(when: When) -> Concept:
    return _has(
        f"ends_by_{when.replace('-', '_')}",
        f"whether it may end so: {OUTCOMES[when].reason.format(count='n')}",
        "v_outcomes",
        _BARE if when == "bare" else f"x.decided_by = '{when}'",
    )


def _stalemate(name: str, meaning: str, verdict: str) -> Concept:
    ends = f"x.decided_by = 'no-move' AND x.verdict = '{verdict}' AND x.in_check IS NOT TRUE"
    return _has(name, f"whether who has no legal move, and is not in check, {meaning}", "v_outcomes", ends)


_IN: Final = "r.ruleset IN (SELECT x.ruleset FROM {} x WHERE {})"
_SQUARES: Final = _of("v_squares", "count(*)")
# Whoever has one piece left has a bare king, too.
_BARE: Final = "x.decided_by = 'bare' OR x.decided_by = 'extinct' AND x.count = 1 AND x.pieces IS NULL"
_MATED: Final = "x.decided_by = 'no-move' AND x.verdict = 'loss' AND x.in_check IS NOT FALSE"
_SAFE: Final = "x.duty = 'royal-safety'"
_NO_CHECKS: Final = "x.duty = 'no-checks'"
_CAPTURES: Final = "p.displacing + p.elsewhere + p.by_another + p.either"
_ON_A_SIDE: Final = "count(DISTINCT p.whole_movement) FILTER (WHERE p.side = '{}') < count(DISTINCT p.whole_movement)"

CONCEPTS: Final[tuple[Concept, ...]] = (
    # The board
    _size("board_squares", "how many squares the board has", f"({_SQUARES})"),
    *(
        _size(
            f"{axis}s",
            f"how many {axis}s; 0 where squares have none",
            f"({_of('v_squares', f'count(DISTINCT x.{axis})')})",
        )
        for axis in ("file", "rank", "layer")
    ),
    Concept(
        "rectangular",
        "boolean",
        "whether the squares fill the rectangle or the box of their files, ranks and layers",
        "("
        + _of(
            "v_squares",
            "count(x.file) = count(DISTINCT x.file) * coalesce(nullif(count(DISTINCT x.rank), 0), 1) "
            "* coalesce(nullif(count(DISTINCT x.layer), 0), 1) AND count(x.file) > 0",
        )
        + ")",
    ),
    Concept(
        "network",
        "boolean",
        "whether places are joined by lines, or have no coordinates",
        "count(*) FILTER (WHERE p.layout = 'network') > 0 "
        f"OR NOT EXISTS ({_of('v_squares', '1', 'x.file IS NOT NULL')})",
    ),
    # The pieces
    _size("pieces", "how many pieces are listed, those of both sides", "count(p.piece)"),
    _size("styles", "how many styles: games that the pieces come from", "count(DISTINCT p.style)"),
    _size("letters", "how many letters the pieces have", "count(DISTINCT p.letter)"),
    _size(
        "movements",
        "how many ways to move, with what moves change, mirrored ones once",
        "count(DISTINCT p.whole_movement)",
    ),
    Concept("possibilities", "integer", "how many possibilities the pieces have", "coalesce(sum(p.possibilities), 0)"),
    Concept(
        "unequal_sides",
        "boolean",
        "whether a side has a way to move that the other has not",
        f"{_ON_A_SIDE.format('first')} OR {_ON_A_SIDE.format('second')}",
    ),
    _pieces("terminal_pieces", "are marked ^: the game ends with them", "p.terminal"),
    _pieces("enhanced_pieces", "are marked +: promoted, or yet to make a first move", "p.state = '+'"),
    _pieces("diminished_pieces", "are marked -: they may be taken en passant, or are otherwise less", "p.state = '-'"),
    # How they move
    _pieces("riders", "go over empty squares by different numbers of steps", "p.rides"),
    _pieces("leapers", "move in another way; castling is neither", "p.leaps"),
    _pieces("hoppers", "move where a piece must stand between on their line, and none elsewhere", "p.hops"),
    _pieces("rider_leapers", "both ride and leap", "p.rides AND p.leaps"),
    _pieces("colour_bound", "stay on the squares of one colour, as a bishop", "p.colours = 'bound'"),
    _pieces("colour_alternating", "change the colour with each move, as a knight", "p.colours = 'alternating'"),
    _pieces("confined", "get from no square to all others", f"p.reach < ({_SQUARES})"),
    _pieces(
        "divergent",
        "capture, and also move without, on numbers of destinations that differ",
        f"{_CAPTURES} > 0 AND p.quiet > 0 AND p.quiet <> p.capturing",
    ),
    # What they capture
    _pieces("capturers", "capture", f"{_CAPTURES} > 0"),
    _pieces("non_capturers", "never capture", f"{_CAPTURES} = 0"),
    _pieces("pure_capturers", "move only to capture", "p.quiet = 0 AND p.capturing > 0"),
    _pieces("displacement_capture", "capture what stands on their destination", "p.displacing > 0"),
    _pieces("remote_capture", "capture on another square, which they empty", "p.elsewhere > 0"),
    _pieces("capture_by_another", "capture on a square that another own piece comes to", "p.by_another > 0"),
    _pieces("undecided_capture", "have rules that do not say what stands where they change something", "p.either > 0"),
    # What else they do
    _pieces("drops", "may be dropped", "s.drops > 0"),
    _pieces(
        "to_hand",
        "put something in a hand: what they take, as a rule",
        "EXISTS (SELECT 1 FROM hand_effect x WHERE x.piece_id = p.piece_id AND x.delta > 0)",
    ),
    _pieces("promotion", "become another piece", "p.promoting > 0"),
    _pieces("castlers", "move another own piece, too", "p.castling > 0"),
    _pieces("extra_turns", "have moves after which the same side is to move", "s.keeps_turn > 0"),
    _pieces("conditions_off_path", "ask about squares that they do not go to or over", "p.off_path > 0"),
    _pieces(
        "state_variables",
        "ask for the value of a state variable",
        "EXISTS (SELECT 1 FROM guard x WHERE x.piece_id = p.piece_id)",
    ),
    _pieces(
        "chains",
        "may go on within the turn",
        "EXISTS (SELECT 1 FROM variant_origin x WHERE x.piece_id = p.piece_id AND x.chainable)",
    ),
    # How the game is played above its moves
    *(
        _has(name.replace("-", "_"), f"whether it is a duty that {meaning}", "v_duties", f"x.duty = '{name}'")
        for name, meaning in DUTIES.items()
        # What says of moves which of them come first or last, or how another duty is asked, is in v_duties alone.
        if name not in (*PREFERENCES, "blast-safety", "forced-pass", "no-promotion-checks")
    ),
    Concept(
        "left_to_players",
        "integer",
        "how many duties are left to the players",
        f"({_of('v_duties', 'count(*)', 'x.is_left')})",
    ),
    # How it ends
    *(_end(when) for when in OUTCOMES if when not in _LATER),
    Concept(
        "checkmate",
        "boolean",
        "whether who is in check and has no legal move loses",
        f"{_IN.format('v_outcomes', _MATED)} AND {_IN.format('v_duties', _SAFE)} "
        f"AND NOT {_IN.format('v_duties', _NO_CHECKS)}",
    ),
    _stalemate("stalemate_draws", "has drawn", "draw"),
    _stalemate("stalemate_loses", "loses", "loss"),
    _stalemate("stalemate_wins", "wins", "win"),
    *map(_end, _LATER),
)

SIZES: Final = frozenset(each.name for each in CONCEPTS if each.is_size)
