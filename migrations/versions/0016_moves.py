"""Moves: how far they go, what they capture and whether they promote, in their views; the coordinates of squares."""

from __future__ import annotations

import re
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

# What lets squares be changed, and no longer: on Postgres, and on SQLite.
_NEVER_CHANGED = "ggn_store: what was written to this table is never changed"
_TRIGGER = {
    True: [f"ALTER TABLE square {switch} TRIGGER square_unchanged" for switch in ("DISABLE", "ENABLE")],
    False: [
        "DROP TRIGGER square_unchanged",
        'CREATE TRIGGER square_unchanged BEFORE UPDATE ON "square" '
        f"BEGIN SELECT RAISE(ABORT, '{_NEVER_CHANGED}'); END",
    ],
}
_AXES = ("file", "rank", "layer")
_FARTHEST = 65_536
_CELL = re.compile("([a-z]+)(?:([1-9][0-9]*)([A-Z]+)?)?", re.ASCII)

_SQUARES = (
    "SELECT r.name AS ruleset, n.number AS revision, q.label AS square, q.number AS number, "
    f"{', '.join(f'q.{axis} AS {axis}' for axis in _AXES)} "
    "FROM ruleset r JOIN revision n ON n.ruleset_id = r.id JOIN square q ON q.board_id = n.board_id "
    "WHERE r.deleted_at IS NULL"
)


def _side(identifier: str) -> str:
    """Whose piece an identifier names: the case of its first letter says it."""
    return f"CASE WHEN upper(substr({identifier}, 1, 1)) = substr({identifier}, 1, 1) THEN 'first' ELSE 'second' END"


def _bare(identifier: str) -> str:
    return f"replace(replace(replace({identifier}, '+', ''), '-', ''), '^', '')"


def _has_plus(identifier: str) -> str:
    return f"(replace({identifier}, '+', '') <> {identifier})"


# The table `c` has what must stand on a square, if anything must; `{square}` becomes `{becomes}`. A square that a piece
# of the other side comes to stand on is none that is captured on.
_CAPTURE = (
    f"CASE WHEN {{becomes}} <> p.identifier AND {_side('{becomes}')} <> p.side THEN NULL "
    f"WHEN c.state = 'enemy' OR c.state <> 'empty' AND {_side('c.state')} <> p.side THEN "
    "CASE WHEN {square} = d.square THEN 1 WHEN {becomes} IS NULL THEN 2 ELSE 3 END "
    "WHEN c.state IS NULL AND (s.square IS NULL OR {square} <> s.square) AND NOT EXISTS (SELECT 1 FROM condition x "
    "WHERE x.piece_id = m.piece_id AND x.variant = m.number AND x.polarity = 'deny' AND x.square = {square} "
    "AND x.state = 'enemy') THEN 4 END"
)
_MUST = (
    "LEFT JOIN condition c ON c.piece_id = m.piece_id AND c.variant = m.number AND c.polarity = 'must' AND c.square = "
)
_OF_VARIANT = "e.piece_id = m.piece_id AND e.variant = m.number"
# Where no effects are told, the piece stands on its destination.
_KIND = (
    f"CASE WHEN p.dialect = 'must-deny' THEN (SELECT {_CAPTURE.format(square='d.square', becomes='p.identifier')} "
    f"FROM square o {_MUST}o.number WHERE o.board_id = p.board_id AND o.number = d.square) ELSE "
    f"(SELECT min({_CAPTURE.format(square='e.square', becomes='e.becomes')}) FROM effect e {_MUST}e.square "
    f"WHERE {_OF_VARIANT}) END"
)
_OF_MOVES = ", ".join(
    [
        *(f"sl.{axis} AS {axis}" for axis in _AXES),
        *(f"dl.{axis} - sl.{axis} AS d{name}" for axis, name in zip(_AXES, "xyz", strict=True)),
        f"CASE {_KIND} WHEN 1 THEN 'displacing' WHEN 2 THEN 'elsewhere' WHEN 3 THEN 'by_another' WHEN 4 THEN 'either' "
        "END AS capture",
        f"EXISTS (SELECT 1 FROM effect e WHERE {_OF_VARIANT} AND e.square = d.square "
        f"AND e.becomes <> p.identifier AND {_side('e.becomes')} = p.side "
        f"AND ({_bare('e.becomes')} <> {_bare('p.identifier')} "
        f"OR {_has_plus('e.becomes')} AND NOT {_has_plus('p.identifier')})) AS promotes",
    ]
)


def upgrade() -> None:
    for axis in _AXES:
        op.add_column("square", sa.Column(axis, sa.Integer(), nullable=True))
    _fill()
    before = _before("0006_gdl")
    for suffix, newest in before._REVISIONS:
        op.execute(f"CREATE VIEW v_squares{suffix} AS {_SQUARES} {newest}")
    _replace_moves(before, has_points=True)
    _rename_in_pieces("capture", "capturing")


def _fill() -> None:
    """Write the coordinates of what is stored. No trigger lets anybody change a square otherwise."""
    connection = op.get_bind()
    is_postgres = connection.dialect.name == "postgresql"
    off, on = _TRIGGER[is_postgres]
    op.execute(off)
    given = ", ".join(f"{axis} = :{axis}" for axis in _AXES)
    write = sa.text(f"UPDATE square SET {given} WHERE board_id = :board AND number = :number")
    squares = sa.text("SELECT number, label FROM square WHERE board_id = :board")
    for board in connection.execute(sa.text("SELECT id FROM board ORDER BY id")).scalars().all():
        labels = {row.number: row.label for row in connection.execute(squares, {"board": board})}
        points = _points(labels)
        if points:
            connection.execute(write, [{"board": board, "number": at} | point for at, point in points.items()])
    op.execute(on)


def _points(labels: dict[int, str]) -> dict[int, dict[str, int | None]]:
    """The coordinates of the squares of a board, from 1; none where they are not CELL labels of one shape, or far."""
    found = {number: _CELL.fullmatch(label) for number, label in labels.items()}
    points = {number: _numbers(match) for number, match in found.items() if match is not None}
    shapes = {tuple(value is None for value in point.values()) for point in points.values()}
    if len(points) < len(labels) or len(shapes) != 1:
        return {}
    return points if all((value or 0) <= _FARTHEST for point in points.values() for value in point.values()) else {}


def _numbers(match: re.Match[str]) -> dict[str, int | None]:
    file, rank, layer = match.groups()
    return {
        "file": _letters(file),
        "rank": None if rank is None else int(rank),
        "layer": None if layer is None else _letters(layer.lower()),
    }


def _letters(letters: str) -> int:
    value = 0
    for letter in letters:
        value = value * 26 + ord(letter) - ord("a") + 1
    return value


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    return module


def _replace_moves(before: ModuleType, *, has_points: bool) -> None:
    """Make the views of moves. Who may read them on Postgres still may, but after a downgrade."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    query = before._moves(before._THEN[is_postgres], has_origin=True)
    if has_points:
        query = query.replace(" FROM ruleset r", f", {_OF_MOVES} FROM ruleset r")
    create = "CREATE OR REPLACE VIEW" if is_postgres and has_points else "CREATE VIEW"
    for suffix, newest in before._REVISIONS:
        if create == "CREATE VIEW":
            op.execute(f"DROP VIEW v_moves{suffix}")
        op.execute(f"{create} v_moves{suffix} AS {query} {newest}")


def _rename_in_pieces(old: str, new: str) -> None:
    """Rename a column of the views of pieces: no two views give one name to different things, so that they join.

    Postgres renames it and then takes the views as they are to be, so that who may read them still may.
    """
    facts = _before("0015_facts")
    if op.get_bind().dialect.name == "postgresql":
        for suffix, _ in _before("0006_gdl")._REVISIONS:
            op.execute(f"ALTER VIEW v_pieces{suffix} RENAME COLUMN {old} TO {new}")
    if new not in facts._SHOWN:
        vars(facts)["_SHOWN"] = {new if name == old else name: column for name, column in facts._SHOWN.items()}
    facts._replace_views(has_facts=True)


def downgrade() -> None:
    _rename_in_pieces("capturing", "capture")
    before = _before("0006_gdl")
    _replace_moves(before, has_points=False)
    for suffix, _ in before._REVISIONS:
        op.execute(f"DROP VIEW v_squares{suffix}")
    for axis in reversed(_AXES):
        op.drop_column("square", axis)
