"""Views: what a store holds, in readable columns; `ggn_store/store/schema/views.py` says what each of them means."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# The revision n of the ruleset r, and the piece p that it lists.
_OF_REVISION = "FROM ruleset r JOIN revision n ON n.ruleset_id = r.id"
_OF_PIECE = f"{_OF_REVISION} JOIN revision_piece rp ON rp.revision_id = n.id JOIN piece p ON p.id = rp.piece_id"
# The possibility m from the source s to the destination d. A square is looked up as soon as its number is known, so
# that what asks for a label goes no further where it is another one.
_SOURCE_SQUARE = "LEFT JOIN square sl ON sl.board_id = p.board_id AND sl.number = s.square"
_DESTINATION_SQUARE = "LEFT JOIN square dl ON dl.board_id = p.board_id AND dl.number = d.square"
_OF_POSSIBILITY = (
    f"{_OF_PIECE} {{then}} source s ON s.piece_id = p.id {_SOURCE_SQUARE} "
    f"{{then}} destination d ON d.piece_id = s.piece_id AND d.source = s.ordinal {_DESTINATION_SQUARE} "
    "{then} variant m ON m.piece_id = d.piece_id AND m.source = d.source AND m.destination = d.ordinal"
)
# The same, found by its key where another view gives that.
_OF_NUMBER = (
    f"{_OF_PIECE} {{then}} variant m ON m.piece_id = p.id "
    f"JOIN source s ON s.piece_id = m.piece_id AND s.ordinal = m.source {_SOURCE_SQUARE} "
    "JOIN destination d ON d.piece_id = m.piece_id AND d.source = m.source AND d.ordinal = m.destination "
    f"{_DESTINATION_SQUARE}"
)
_SHOWN = "WHERE r.deleted_at IS NULL"
_NEWEST = "AND n.number = (SELECT max(x.number) FROM revision x WHERE x.ruleset_id = n.ruleset_id)"

_SOURCE = "CASE WHEN s.square IS NULL THEN '*' ELSE sl.label END"
_DESTINATION = "CASE WHEN d.square IS NULL THEN '*' ELSE dl.label END"
_POSSIBILITY = {
    "ruleset": "r.name",
    "revision": "n.number",
    "piece": "p.identifier",
    "source": _SOURCE,
    "destination": _DESTINATION,
    "ordinal": "m.ordinal",
}
_KEY = {"piece_id": "p.id", "possibility": "m.number"}
# Possibilities are numbered within their piece from 0, without gaps.
_POSSIBILITIES = "(SELECT max(v.number) + 1 FROM variant v WHERE v.piece_id = {piece})"


def _count(table: str) -> str:
    return f"(SELECT count(*) FROM {table} c WHERE c.piece_id = p.id)"


def _said(column: str) -> str:
    """What was said last of the state of a ruleset."""
    return f"(SELECT {column} FROM ruleset_state x WHERE x.ruleset_id = r.id ORDER BY x.number DESC LIMIT 1)"


def _view(columns: dict[str, str], rest: str) -> str:
    return f"SELECT {', '.join(f'{value} AS {name}' for name, value in columns.items())} {rest}"


def _rulesets(of_envelope: dict[str, str]) -> str:
    return _view(
        {
            "ruleset": "r.name",
            "revision": "n.number",
            "title": of_envelope["title"],
            "source": of_envelope["source"],
            "dialect": "n.dialect",
            "board": "b.shape",
            "start": of_envelope["start"],
            "state": f"coalesce({_said('x.state')}, 'active')",
            "successor": _said("x.successor"),
            "pieces": "(SELECT count(*) FROM revision_piece l WHERE l.revision_id = n.id)",
            "possibilities": f"(SELECT sum({_POSSIBILITIES.format(piece='l.piece_id')}) FROM revision_piece l "
            "WHERE l.revision_id = n.id)",
            "revisions": "(SELECT count(*) FROM revision x WHERE x.ruleset_id = r.id)",
            "digest": "n.digest",
            "lineage": "n.lineage",
            "author": "n.author",
            "message": "n.message",
            "created_at": "n.created_at",
        },
        f"{_OF_REVISION} JOIN board b ON b.id = n.board_id {_SHOWN}",
    )


def _pieces() -> str:
    return _view(
        {
            "ruleset": "r.name",
            "revision": "n.number",
            "piece": "p.identifier",
            "side": "p.side",
            "style": "p.style",
            "letter": "p.letter",
            "state": "p.state",
            "terminal": "p.terminal",
            "derived": "p.derived",
            "ordinal": "rp.ordinal",
            "sources": _count("source"),
            "destinations": _count("destination"),
            "possibilities": _POSSIBILITIES.format(piece="p.id"),
            "conditions": _count("condition"),
            "digest": "p.digest",
            "piece_id": "p.id",
        },
        f"{_OF_PIECE} {_SHOWN}",
    )


def _moves(then: str) -> str:
    requires = (
        "(SELECT min(c.state) FROM condition c WHERE c.piece_id = m.piece_id AND c.variant = m.number "
        "AND c.polarity = 'must' AND c.square = d.square)"
    )
    return _view(
        {
            "ruleset": "r.name",
            "revision": "n.number",
            "piece": "p.identifier",
            "side": "p.side",
            "source": _SOURCE,
            "destination": _DESTINATION,
            "ordinal": "m.ordinal",
            "requires": requires,
            "toggle": "m.toggle",
            "is_drop": "(s.square IS NULL)",
            **_KEY,
        },
        f"{_OF_POSSIBILITY.format(then=then)} {_SHOWN}",
    )


def _conditions(then: str) -> str:
    columns = _POSSIBILITY | {"polarity": "c.polarity", "square": "q.label", "state": "c.state"} | _KEY
    # An outer join comes last, unless the question is about the condition itself: then SQLite makes an inner one of it,
    # and may begin there.
    return _view(
        columns,
        f"{_OF_NUMBER.format(then=then)} LEFT JOIN condition c ON c.piece_id = m.piece_id AND c.variant = m.number "
        "LEFT JOIN square q ON q.board_id = p.board_id AND q.number = c.square "
        f"{_SHOWN} AND (c.square IS NOT NULL OR c.state IS NOT NULL)",
    )


def _effects(then: str) -> str:
    # Not two views in one, which SQLite would make as a whole wherever another view is joined with it.
    return _view(
        _POSSIBILITY
        | {
            "kind": "k.kind",
            "square": "q.label",
            "becomes": "e.becomes",
            "held": "h.piece",
            "delta": "h.delta",
            **_KEY,
        },
        f"{_OF_NUMBER.format(then=then)} CROSS JOIN (SELECT 'square' AS kind UNION ALL SELECT 'hand') k "
        "LEFT JOIN effect e ON k.kind = 'square' AND e.piece_id = m.piece_id AND e.variant = m.number "
        "LEFT JOIN square q ON q.board_id = p.board_id AND q.number = e.square "
        "LEFT JOIN hand_effect h ON k.kind = 'hand' AND h.piece_id = m.piece_id AND h.variant = m.number "
        f"{_SHOWN} AND (e.square IS NOT NULL OR h.piece IS NOT NULL)",
    )


def _history(list_of_tags: str) -> str:
    return _view(
        {
            "ruleset": "r.name",
            "revision": "n.number",
            "parent": "parent.number",
            "merged": "merged.number",
            "digest": "n.digest",
            "lineage": "n.lineage",
            "author": "n.author",
            "message": "n.message",
            "created_at": "n.created_at",
            "tags": f"(SELECT {list_of_tags} FROM (SELECT g.name FROM tag g "
            "WHERE g.ruleset_id = n.ruleset_id AND g.revision_id = n.id AND g.number = "
            "(SELECT max(x.number) FROM tag x WHERE x.ruleset_id = g.ruleset_id AND x.name = g.name) "
            "ORDER BY g.name) listed)",
        },
        f"{_OF_REVISION} LEFT JOIN revision parent ON parent.id = n.parent_id "
        "LEFT JOIN revision_merge u ON u.revision_id = n.id LEFT JOIN revision merged ON merged.id = u.parent_id "
        f"{_SHOWN}",
    )


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        of_envelope = "CAST(n.envelope AS json) ->> '{name}'"
        list_of_tags = "string_agg(listed.name, ',' ORDER BY listed.name)"
        then = "JOIN"
    else:
        of_envelope = "json_extract(n.envelope, '$.{name}')"
        list_of_tags = "group_concat(listed.name, ',')"
        # Which for SQLite says in which order. On its own it may begin with all possibilities of the store, since it
        # does not see that a label says something of a square.
        then = "CROSS JOIN"
    fields = {name: of_envelope.format(name=name) for name in ("title", "source", "start")}

    for suffix, newest in (("_all", ""), ("", _NEWEST)):
        for name, query in (
            ("rulesets", _rulesets(fields)),
            ("pieces", _pieces()),
            ("moves", _moves(then)),
            ("conditions", _conditions(then)),
            ("effects", _effects(then)),
        ):
            op.execute(f"CREATE VIEW v_{name}{suffix} AS {query} {newest}")
    op.execute(f"CREATE VIEW v_history AS {_history(list_of_tags)}")


def downgrade() -> None:
    op.execute("DROP VIEW v_history")
    for name in ("effects", "conditions", "moves", "pieces", "rulesets"):
        op.execute(f"DROP VIEW v_{name}")
        op.execute(f"DROP VIEW v_{name}_all")
