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

# Of each revision, once: what its squares, pieces, duties and outcomes come to. A concept is picked out of that, since
# SQLite would otherwise look through all declarations for each of them again.
_GATHERED = (
    "SELECT r.name AS ruleset, n.number AS revision, {columns} "
    "FROM ruleset r JOIN revision n ON n.ruleset_id = r.id LEFT JOIN revision_piece l ON l.revision_id = n.id "
    "LEFT JOIN piece p ON p.id = l.piece_id LEFT JOIN piece_summary s ON s.piece_id = p.id "
    "LEFT JOIN piece_facts f ON f.piece_id = p.id WHERE r.deleted_at IS NULL {newest} GROUP BY r.name, n.number, n.id"
)
_SQUARES = "FROM square x WHERE x.board_id = n.board_id"
_ON_A_SIDE = "count(DISTINCT f.rules) FILTER (WHERE p.side = '{}')"
_CAPTURES = "f.displacing + f.elsewhere + f.by_another + f.either"
_PIECES_THAT = {
    "terminal_pieces": "p.terminal",
    "enhanced_pieces": "p.state = '+'",
    "diminished_pieces": "p.state = '-'",
    "riders": "f.rides",
    "leapers": "f.leaps",
    "hoppers": "f.hops",
    "rider_leapers": "f.rides AND f.leaps",
    "colour_bound": "f.colours = 'bound'",
    "colour_alternating": "f.colours = 'alternating'",
    "confined": f"f.reach < (SELECT count(*) {_SQUARES})",
    "divergent": f"{_CAPTURES} > 0 AND f.quiet > 0 AND f.quiet <> f.capture",
    "capturers": f"{_CAPTURES} > 0",
    "non_capturers": f"{_CAPTURES} = 0",
    "pure_capturers": "f.quiet = 0 AND f.capture > 0",
    "displacement_capture": "f.displacing > 0",
    "remote_capture": "f.elsewhere > 0",
    "capture_by_another": "f.by_another > 0",
    "undecided_capture": "f.either > 0",
    "drops": "s.drops > 0",
    "to_hand": "EXISTS (SELECT 1 FROM hand_effect x WHERE x.piece_id = p.id AND x.delta > 0)",
    "promotion": "f.promoting > 0",
    "castlers": "f.castling > 0",
    "extra_turns": "s.keeps_turn > 0",
    "conditions_off_path": "f.off_path > 0",
    "state_variables": "EXISTS (SELECT 1 FROM guard x WHERE x.piece_id = p.id)",
    "chains": "EXISTS (SELECT 1 FROM variant_origin x WHERE x.piece_id = p.id AND x.chainable)",
}
_NUMBERS = {
    "board_squares": f"(SELECT count(*) {_SQUARES})",
    "placed": f"(SELECT count(x.file) {_SQUARES})",
    **{f"{axis}s": f"(SELECT count(DISTINCT x.{axis}) {_SQUARES})" for axis in ("file", "rank", "layer")},
    "pieces": "count(p.id)",
    "styles": "count(DISTINCT p.style)",
    "letters": "count(DISTINCT p.letter)",
    "movements": "count(DISTINCT f.rules)",
    "of_first": _ON_A_SIDE.format("first"),
    "of_second": _ON_A_SIDE.format("second"),
    "possibilities": "coalesce(sum(s.possibilities), 0)",
    **{name: f"count(*) FILTER (WHERE {condition})" for name, condition in _PIECES_THAT.items()},
}
_DUTIES = (
    *("royal-safety", "flying-general", "duple-check", "spare-royal", "clear-marks", "mandatory-capture"),
    *("mandatory-drop", "no-checks", "no-flight", "no-leap-from-check", "no-drop-checks", "no-drop-mate", "pass"),
    *("promotion-limit", "royal-promotion-limit"),
)
_ENDS = ("no-move", "extinct", "bare", "material", "goal", "line", "checks", "facing", "repetition", "quiet")
_VERDICTS = {"draws": "draw", "loses": "loss", "wins": "win"}


def _declared(*, is_postgres: bool) -> dict[str, str]:
    """What a revision declares, as texts: `,duty,duty,`, and of each outcome `kind/verdict/in check/one piece left`."""
    play = _before("0010_play")
    if is_postgres:
        entries = f"json_array_elements({play._Postgres.play} -> '{{key}}') AS e (value)"
        name = "CASE json_typeof(e.value) WHEN 'object' THEN e.value ->> 'name' ELSE e.value #>> '{}' END"
        in_check = "CASE e.value ->> 'in_check' WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE '' END"
        kind, verdict = "(e.value ->> 'when')", "(e.value ->> 'verdict')"
        is_one = "(e.value ->> 'count') = '1' AND (e.value -> 'pieces') IS NULL"
        joined, length = "string_agg({}, ',')", f"json_array_length({play._Postgres.play} -> 'host')"
    else:
        entries = f"json_each({play._Sqlite.play}, '$.{{key}}') e"
        name = "CASE e.type WHEN 'object' THEN json_extract(e.value, '$.name') ELSE e.value END"
        in_check = "coalesce(json_extract(e.value, '$.in_check'), '')"
        kind, verdict = "json_extract(e.value, '$.when')", "json_extract(e.value, '$.verdict')"
        is_one = "json_extract(e.value, '$.count') = 1 AND json_extract(e.value, '$.pieces') IS NULL"
        joined, length = "group_concat({}, ',')", f"json_array_length({play._Sqlite.play}, '$.host')"
    outcome = f"{kind} || '/' || {verdict} || '/' || {in_check} || '/' || CASE WHEN {is_one} THEN '1' ELSE '' END"

    def text(key: str, each: str) -> str:
        return f"',' || coalesce((SELECT {joined.format(each)} FROM {entries.format(key=key)}), '') || ','"

    return {
        "left_to_players": f"coalesce({length}, 0)",
        "duties": text("duties", name),
        "outcomes": text("outcome", outcome),
    }


def _any(column: str, *wanted: str) -> str:
    found = (f"g.{column} LIKE '%,{each}%'" for each in wanted)
    return f"({' OR '.join(found)})"


def _name(said: str) -> str:
    return said.replace("-", "_")


_BARE = [f"extinct/{verdict}//1," for verdict in _VERDICTS.values()]
_CONCEPTS = {
    **{name: f"g.{name}" for name in ("board_squares", "files", "ranks", "layers")},
    "rectangular": "g.placed > 0 AND g.placed = g.files * coalesce(nullif(g.ranks, 0), 1) "
    "* coalesce(nullif(g.layers, 0), 1)",
    "network": "g.placed = 0",
    **{name: f"g.{name}" for name in ("pieces", "styles", "letters", "movements", "possibilities")},
    "unequal_sides": "g.of_first < g.movements OR g.of_second < g.movements",
    **{name: f"g.{name}" for name in _PIECES_THAT},
    **{_name(duty): _any("duties", f"{duty},") for duty in _DUTIES},
    "left_to_players": "g.left_to_players",
    **{f"ends_by_{_name(end)}": _any("outcomes", f"{end}/", *(_BARE if end == "bare" else ())) for end in _ENDS},
    "checkmate": f"{_any('outcomes', 'no-move/loss//', 'no-move/loss/1/')} AND {_any('duties', 'royal-safety,')} "
    f"AND NOT {_any('duties', 'no-checks,')}",
    **{
        f"stalemate_{name}": _any("outcomes", f"no-move/{verdict}//", f"no-move/{verdict}/0/")
        for name, verdict in _VERDICTS.items()
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
    is_postgres = op.get_bind().dialect.name == "postgresql"
    gathered = ", ".join(f"{sql} AS {name}" for name, sql in (_NUMBERS | _declared(is_postgres=is_postgres)).items())
    columns = ", ".join(f"{sql} AS {name}" for name, sql in _CONCEPTS.items())
    for suffix, newest in _before("0008_summaries")._REVISIONS:
        rows = _GATHERED.format(columns=gathered, newest=newest)
        op.execute(f"CREATE VIEW v_concepts{suffix} AS SELECT g.ruleset, g.revision, {columns} FROM ({rows}) g")


def downgrade() -> None:
    for every in ("_all", ""):
        op.execute(f"DROP VIEW v_concepts{every}")
    _replace_rulesets(is_extended=False)
