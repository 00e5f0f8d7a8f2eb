"""Questions to begin with; a test asks each of them on both databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SqlExample:
    """A question in words and in SQL."""

    question: str
    query: str


SQL_EXAMPLES: Final[tuple[SqlExample, ...]] = (
    SqlExample(
        "Which rulesets are there, and how large are they?",
        "SELECT ruleset, title, board, pieces, possibilities FROM v_rulesets ORDER BY possibilities DESC",
    ),
    SqlExample(
        "Which pieces of all games go from d4 to f5 in one move?",
        "SELECT DISTINCT ruleset, piece FROM v_moves WHERE source = 'd4' AND destination = 'f5'\n"
        "ORDER BY ruleset, piece",
    ),
    SqlExample(
        "Where can a knight of chess go from e4, and what must stand there?",
        "SELECT destination, requires FROM v_moves\n"
        "WHERE ruleset = 'chess' AND piece = 'C:N' AND source = 'e4' ORDER BY possibility",
    ),
    SqlExample(
        "How mobile is each piece of chess: from how many squares, to how many in the mean and at most?",
        "SELECT piece, count(*) AS squares, round(avg(reached), 2) AS mean, max(reached) AS most FROM\n"
        "  (SELECT piece, source, count(DISTINCT destination) AS reached FROM v_moves\n"
        "   WHERE ruleset = 'chess' AND NOT is_drop GROUP BY piece, source) AS of_square\n"
        "GROUP BY piece ORDER BY mean DESC, piece",
    ),
    SqlExample(
        "Which rules look at a rook that may still castle?",
        "SELECT piece, source, destination, polarity, square FROM v_conditions\n"
        "WHERE ruleset = 'chess' AND state = 'C:+R'",
    ),
    SqlExample(
        "Which pieces can be dropped, and on how many squares?",
        "SELECT ruleset, piece, count(DISTINCT destination) AS squares FROM v_moves\n"
        "WHERE is_drop GROUP BY ruleset, piece ORDER BY ruleset, squares DESC, piece",
    ),
    SqlExample(
        "What becomes of pieces that promote?",
        "SELECT piece, becomes, count(*) AS ways FROM v_effects\n"
        "WHERE ruleset = 'chess' AND kind = 'square' AND square = destination AND becomes <> piece\n"
        "GROUP BY piece, becomes ORDER BY piece, becomes",
    ),
    SqlExample(
        "Which possibilities have the most conditions?",
        "SELECT ruleset, piece, source, destination, count(*) AS conditions FROM v_conditions\n"
        "GROUP BY ruleset, piece, source, destination, ordinal, possibility\n"
        "ORDER BY conditions DESC, ruleset, piece, possibility LIMIT 10",
    ),
    SqlExample(
        "Which moves change more than their two squares?",
        "SELECT ruleset, piece, source, destination, count(*) AS changed FROM v_effects WHERE kind = 'square'\n"
        "GROUP BY ruleset, piece, source, destination, ordinal, possibility HAVING count(*) > 2\n"
        "ORDER BY ruleset, piece, possibility LIMIT 20",
    ),
    SqlExample(
        "Which pieces are the same in several games, rule for rule?",
        "SELECT piece, count(*) AS games, min(ruleset) AS one, max(ruleset) AS another FROM v_pieces\n"
        "GROUP BY digest, piece HAVING count(*) > 1 ORDER BY games DESC, piece LIMIT 20",
    ),
    SqlExample(
        "How far does a piece get in two moves on an empty board? (given with --param piece=C:N --param source=a1)",
        "SELECT DISTINCT second.destination FROM v_moves AS first\n"
        "JOIN v_moves AS second ON second.piece_id = first.piece_id AND second.source = first.destination\n"
        "WHERE first.ruleset = 'chess' AND second.ruleset = 'chess'\n"
        "  AND first.piece = :piece AND first.source = :source ORDER BY 1",
    ),
    SqlExample(
        "Which squares can a piece ever reach? (given with --param piece=C:B --param source=c1)",
        "WITH RECURSIVE step(source, destination) AS (\n"
        "  SELECT DISTINCT source, destination FROM v_moves WHERE ruleset = 'chess' AND piece = :piece),\n"
        "reached(square) AS (\n"
        "  SELECT destination FROM step WHERE source = :source\n"
        "  UNION SELECT destination FROM step JOIN reached ON source = square)\n"
        "SELECT square FROM reached ORDER BY square",
    ),
    SqlExample(
        "What has happened to each ruleset, and why?",
        "SELECT ruleset, revision, created_at, author, message, tags FROM v_history ORDER BY created_at DESC, ruleset",
    ),
)
