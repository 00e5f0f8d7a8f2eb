"""Names: what revisions call their pieces, in the views of pieces; of moves, castling, what is off the path, hexagons.

The upgrade fills the table, and derives all facts again, one of which is new; and lanes, where those of possibilities
that differ in what they ask of variables are one.
"""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

# Axial coordinates of hexagons, by their layout.
_AXES = {
    "x": "({at}.file - CASE WHEN f.layout = 'rows-left' AND {at}.layer IS NULL THEN coalesce({at}.rank, 0) ELSE 0 END)",
    "y": "({at}.rank + CASE WHEN {at}.file < f.fold THEN f.fold - {at}.file ELSE 0 END)",
    "z": "{at}.layer",
}
_STEPS = {name: f"{sql.format(at='dl')} - {sql.format(at='sl')}" for name, sql in _AXES.items()}
_ASIDE = {name: f"coalesce({sql.format(at='q')} - {sql.format(at='sl')}, 0)" for name, sql in _AXES.items()}
_GOING = {name: f"coalesce({sql}, 0)" for name, sql in _STEPS.items()}


def _sum(one: dict[str, str], other: dict[str, str]) -> str:
    return " + ".join(f"{one[axis]} * {other[axis]}" for axis in one)


def _is_between() -> str:
    """Whether a square lies strictly between source and destination, on a straight line."""
    pairs = (("x", "y"), ("x", "z"), ("y", "z"))
    parallel = " AND ".join(f"{_ASIDE[a]} * {_GOING[b]} = {_ASIDE[b]} * {_GOING[a]}" for a, b in pairs)
    there, whole = _sum(_ASIDE, _GOING), _sum(_GOING, _GOING)
    return f"q.file IS NOT NULL AND s.square IS NOT NULL AND {parallel} AND {there} > 0 AND {there} < {whole}"


def _is_own(before: ModuleType, state: str) -> str:
    return f"{state} NOT IN ('empty', 'enemy') AND {before._side(state)} = p.side"


def _of_moves(before: ModuleType, then: str) -> str:
    """The columns that are new: whether another own piece leaves its square and one stands elsewhere; and a count."""
    of_variant = "piece_id = m.piece_id AND {0}.variant = m.number"
    must = f"FROM condition c WHERE c.{of_variant.format('c')} AND c.polarity = 'must' AND {_is_own(before, 'c.state')}"
    changed = f"FROM effect e WHERE e.{of_variant.format('e')}"
    leaves = (
        f"EXISTS (SELECT 1 {must} AND (s.square IS NULL OR c.square <> s.square) AND EXISTS (SELECT 1 {changed} "
        "AND e.square = c.square AND (e.becomes IS NULL OR e.square = d.square "
        f"OR {before._side('e.becomes')} <> p.side OR e.becomes = p.identifier AND c.state <> p.identifier)))"
    )
    stands = (
        f"EXISTS (SELECT 1 {changed} AND e.becomes IS NOT NULL AND {before._side('e.becomes')} = p.side "
        "AND (d.square IS NULL OR e.square <> d.square OR e.becomes <> p.identifier AND EXISTS (SELECT 1 FROM effect h "
        f"WHERE h.{of_variant.format('h')} AND h.becomes = p.identifier)) "
        f"AND NOT EXISTS (SELECT 1 {must} AND c.square = e.square))"
    )
    off_path = (
        f"(SELECT count(DISTINCT q.number) FROM condition c {then} square q ON q.board_id = p.board_id "
        f"AND q.number = c.square WHERE c.{of_variant.format('c')} AND (s.square IS NULL OR q.number <> s.square) "
        f"AND (d.square IS NULL OR q.number <> d.square) AND NOT coalesce({_is_between()}, FALSE))"
    )
    return f"{leaves} AND {stands} AS castles, {off_path} AS squares_off_path"


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    module.__file__ = loader.path  # where it finds those before it
    loader.exec_module(module)
    return module


def _queries(*, is_extended: bool) -> dict[str, str]:
    """The views of pieces and moves as they have been, or with what is new at their ends."""
    gdl, moves, layouts = _before("0006_gdl"), _before("0016_moves"), _before("0021_layouts")
    is_postgres = op.get_bind().dialect.name == "postgresql"
    pieces: str = layouts._pieces().replace(" FROM ruleset r", f", {layouts._LAYOUT} AS layout FROM ruleset r")
    told, columns = gdl._moves(gdl._THEN[is_postgres], has_origin=True), moves._OF_MOVES
    if is_extended:
        pieces = pieces.replace(" FROM ruleset r", ", w.name AS name FROM ruleset r").replace(
            "WHERE r.", "LEFT JOIN piece_name w ON w.revision_id = rp.revision_id AND w.ordinal = rp.ordinal WHERE r."
        )
        for axis, name in zip(moves._AXES, "xyz", strict=True):
            columns = columns.replace(f"dl.{axis} - sl.{axis} AS d{name}", f"{_STEPS[name]} AS d{name}")
        columns += f", {_of_moves(moves, gdl._THEN[is_postgres])}"
        # Before the rows of a piece, so that it is looked up once.
        sources = f"{gdl._THEN[is_postgres]} source s"
        told = told.replace(sources, f"LEFT JOIN piece_facts f ON f.piece_id = p.id {sources}")
    return {"v_pieces": pieces, "v_moves": told.replace(" FROM ruleset r", f", {columns} FROM ruleset r")}


def _replace(*, is_extended: bool) -> None:
    """Who may read the views on Postgres still may, but after a downgrade."""
    create = "OR REPLACE " if op.get_bind().dialect.name == "postgresql" and is_extended else ""
    for name, query in _queries(is_extended=is_extended).items():
        for suffix, newest in _before("0008_summaries")._REVISIONS:
            if not create:
                op.execute(f"DROP VIEW {name}{suffix}")
            op.execute(f"CREATE {create}VIEW {name}{suffix} AS {query} {newest}")


def upgrade() -> None:
    label = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "piece_name",
        sa.Column("revision_id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("name", label, nullable=False),
        sa.PrimaryKeyConstraint("revision_id", "ordinal", name="pk_piece_name"),
        sa.ForeignKeyConstraint(
            ["revision_id", "ordinal"],
            ["revision_piece.revision_id", "revision_piece.ordinal"],
            name="fk_piece_name_revision_id_ordinal",
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_piece_name_name", "piece_name", ["name"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE TRIGGER piece_name_not_emptied BEFORE TRUNCATE ON piece_name FOR EACH STATEMENT "
            f"EXECUTE FUNCTION ggn_refuse('{_before('0015_facts')._NEVER_REMOVED}')"
        )
        op.drop_column("piece_facts", "entries")
        for column in (sa.Column("fold", sa.Integer(), nullable=True), sa.Column("entries", label, nullable=True)):
            op.add_column("piece_facts", column)
        op.execute("UPDATE piece_facts SET version = 0")
    else:
        _before("0021_layouts")._recreate(has_layouts=True)
        # What is long comes last.
        op.drop_column("piece_facts", "entries")
        for kind, name in (("INTEGER", "fold"), ("TEXT", "entries")):
            op.execute(f"ALTER TABLE piece_facts ADD COLUMN {name} {kind}")
    _replace(is_extended=True)


def downgrade() -> None:
    _replace(is_extended=False)
    op.drop_table("piece_name")
    op.drop_column("piece_facts", "fold")
