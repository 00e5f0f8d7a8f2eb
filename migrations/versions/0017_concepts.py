"""Concepts: what a ruleset has and how much of it, in views over those of rulesets, pieces, duties and outcomes.

Rulesets also say how many conditions they have, and what is left to the players.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_QUERY = (
    "SELECT r.ruleset, r.revision, {columns} FROM v_rulesets{every} r "
    "LEFT JOIN v_pieces{every} p ON p.ruleset = r.ruleset AND p.revision = r.revision "
    "LEFT JOIN piece_summary s ON s.piece_id = p.piece_id GROUP BY r.ruleset, r.revision"
)
_IN = "x WHERE x.ruleset = r.ruleset AND x.revision = r.revision"
_SQUARES = f"FROM v_squares{{every}} {_IN}"
_DUTIES = f"FROM v_duties{{every}} {_IN}"
_OUTCOMES = f"FROM v_outcomes{{every}} {_IN}"
_ON_A_SIDE = "count(DISTINCT p.whole_movement) FILTER (WHERE p.side = '{}') < count(DISTINCT p.whole_movement)"
_CAPTURES = "p.displacing + p.elsewhere + p.by_another + p.either"
_NO_MOVE = f"{_OUTCOMES} AND x.decided_by = 'no-move' AND x.verdict"
_DUTY = (
    "EXISTS (SELECT 1 FROM v_duties{{every}} y WHERE y.ruleset = r.ruleset AND y.revision = r.revision "
    "AND y.duty = '{}')"
)
_MATED = f"AND x.in_check IS NOT FALSE AND {_DUTY.format('royal-safety')} AND NOT {_DUTY.format('no-checks')}"
_BARE = "(x.decided_by = 'bare' OR x.decided_by = 'extinct' AND x.count = 1 AND x.pieces IS NULL)"
_OF_BOARD = {
    "board_squares": f"(SELECT count(*) {_SQUARES})",
    **{f"{axis}s": f"(SELECT count(DISTINCT x.{axis}) {_SQUARES})" for axis in ("file", "rank", "layer")},
    "rectangular": "(SELECT count(x.file) = count(DISTINCT x.file) * coalesce(nullif(count(DISTINCT x.rank), 0), 1) "
    f"* coalesce(nullif(count(DISTINCT x.layer), 0), 1) AND count(x.file) > 0 {_SQUARES})",
    "network": f"NOT EXISTS (SELECT 1 {_SQUARES} AND x.file IS NOT NULL)",
}
_OF_RULESET = {
    "pieces": "count(p.piece)",
    "styles": "count(DISTINCT p.style)",
    "letters": "count(DISTINCT p.letter)",
    "movements": "count(DISTINCT p.whole_movement)",
    "possibilities": "coalesce(sum(p.possibilities), 0)",
}
_PIECES_THAT = {
    "terminal_pieces": "p.terminal",
    "enhanced_pieces": "p.state = '+'",
    "diminished_pieces": "p.state = '-'",
    "riders": "p.rides",
    "leapers": "p.leaps",
    "hoppers": "p.hops",
    "rider_leapers": "p.rides AND p.leaps",
    "colour_bound": "p.colours = 'bound'",
    "colour_alternating": "p.colours = 'alternating'",
    "confined": f"p.reach < (SELECT count(*) {_SQUARES})",
    "divergent": f"{_CAPTURES} > 0 AND p.quiet > 0 AND p.quiet <> p.capturing",
    "capturers": f"{_CAPTURES} > 0",
    "non_capturers": f"{_CAPTURES} = 0",
    "pure_capturers": "p.quiet = 0 AND p.capturing > 0",
    "displacement_capture": "p.displacing > 0",
    "remote_capture": "p.elsewhere > 0",
    "capture_by_another": "p.by_another > 0",
    "undecided_capture": "p.either > 0",
    "drops": "s.drops > 0",
    "to_hand": "EXISTS (SELECT 1 FROM hand_effect x WHERE x.piece_id = p.piece_id AND x.delta > 0)",
    "promotion": "p.promoting > 0",
    "castlers": "p.castling > 0",
    "extra_turns": "s.keeps_turn > 0",
    "conditions_off_path": "p.off_path > 0",
    "state_variables": "EXISTS (SELECT 1 FROM guard x WHERE x.piece_id = p.piece_id)",
    "chains": "EXISTS (SELECT 1 FROM variant_origin x WHERE x.piece_id = p.piece_id AND x.chainable)",
}
_DUTY_NAMES = (
    *("royal-safety", "flying-general", "duple-check", "spare-royal", "clear-marks", "mandatory-capture"),
    *("mandatory-drop", "no-checks", "no-flight", "no-leap-from-check", "no-drop-checks", "no-drop-mate", "pass"),
    *("promotion-limit", "royal-promotion-limit"),
)
_ENDS = ("no-move", "extinct", "bare", "material", "goal", "line", "checks", "facing", "repetition", "quiet")
_STALEMATES = {"draws": "draw", "loses": "loss", "wins": "win"}


def _name(said: str) -> str:
    return said.replace("-", "_")


_CONCEPTS = {
    **_OF_BOARD,
    **_OF_RULESET,
    "unequal_sides": f"{_ON_A_SIDE.format('first')} OR {_ON_A_SIDE.format('second')}",
    **{name: f"count(*) FILTER (WHERE {condition})" for name, condition in _PIECES_THAT.items()},
    **{_name(duty): f"EXISTS (SELECT 1 {_DUTIES} AND x.duty = '{duty}')" for duty in _DUTY_NAMES},
    "left_to_players": f"(SELECT count(*) {_DUTIES} AND x.is_left)",
    **{f"ends_by_{_name(end)}": f"EXISTS (SELECT 1 {_OUTCOMES} AND x.decided_by = '{end}')" for end in _ENDS},
    "ends_by_bare": f"EXISTS (SELECT 1 {_OUTCOMES} AND {_BARE})",
    "checkmate": f"EXISTS (SELECT 1 {_NO_MOVE} = 'loss' {_MATED})",
    **{
        f"stalemate_{name}": f"EXISTS (SELECT 1 {_NO_MOVE} = '{verdict}' AND x.in_check IS NOT TRUE)"
        for name, verdict in _STALEMATES.items()
    },
}


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module


def _replace_rulesets(*, is_extended: bool) -> None:
    """Make the views of rulesets. Who may read them on Postgres still may, but after a downgrade."""
    summaries, play = _before("0008_summaries"), _before("0010_play")
    is_postgres = op.get_bind().dialect.name == "postgresql"
    query = summaries._rulesets(
        "CAST(n.envelope AS json) ->> '{}'" if is_postgres else "json_extract(n.envelope, '$.{}')", is_counted=True
    )
    listed = (
        f"(SELECT string_agg(h.value, ',' ORDER BY h.place) FROM json_array_elements_text({play._Postgres.play} "
        "-> 'host') WITH ORDINALITY AS h (value, place))"
        if is_postgres
        else f"(SELECT group_concat(h.value, ',') FROM json_each({play._Sqlite.play}, '$.host') h)"
    )
    columns = {
        "conditions": "(SELECT sum(c.conditions) FROM revision_piece l JOIN piece_summary c ON c.piece_id = l.piece_id "
        "WHERE l.revision_id = n.id)",
        "host_duties": listed,
    }
    if is_extended:
        also = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
        query = query.replace(" FROM ruleset r JOIN", f", {also} FROM ruleset r JOIN")
    create = "CREATE OR REPLACE VIEW" if is_postgres and is_extended else "CREATE VIEW"
    for suffix, newest in summaries._REVISIONS:
        if create == "CREATE VIEW":
            op.execute(f"DROP VIEW v_rulesets{suffix}")
        op.execute(f"{create} v_rulesets{suffix} AS {query} {newest}")


def upgrade() -> None:
    _replace_rulesets(is_extended=True)
    columns = ", ".join(f"{sql} AS {name}" for name, sql in _CONCEPTS.items())
    for every in ("_all", ""):
        query = _QUERY.format(columns=columns, every="{every}").format(every=every)
        op.execute(f"CREATE VIEW v_concepts{every} AS {query}")


def downgrade() -> None:
    for every in ("_all", ""):
        op.execute(f"DROP VIEW v_concepts{every}")
    _replace_rulesets(is_extended=False)
