"""Chains: paths of chainable possibilities, each in the position that the one before it left, as one recursive query.

    chain: what stands where, and what is in the hand
       -> the piece on the path's last square -> source -> destination -> chainable variant, where
          no condition of the variant fails on what the path has changed, else on the board, and no guard on the state

A row carries what its path has changed: `changes` (square -> piece, "" where it was emptied; nothing for what is as it
was), `hands` and `state`, JSON objects of texts in one order; and in `seen` the positions that were left behind. All of
it is of one position: on Postgres that travels as values, on SQLite the board is a temporary table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Integer, Text, TextClause, and_, bindparam, select, text

from ggn_store import limits
from ggn_store.model.documents.board import Board
from ggn_store.model.moves.chain import Chain, require_bounded
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.position import MAX_HAND_COUNT, Position
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.notation.stn import Transition
from ggn_store.resources import sql
from ggn_store.store.moves import positions as temporary
from ggn_store.store.moves import reading
from ggn_store.store.moves.positions import Opened
from ggn_store.store.schema import tables as t

# Ordinals and numbers of variants have so many digits in `rank`, whose order as text is that of the document.
_DIGITS: Final = 10
# Beside the table that the details of moves are read by.
_CHOSEN: Final = temporary.temporary("chosen_step", {"piece_id": t.Id, "variant": Integer}, "piece_id", "variant")


class Chained(NamedTuple):
    """Which chains are asked for: of a piece, from a square, to a square, or along `path` (squares, or `*`).

    Along a path, what it begins with is found too, from its first step on.
    """

    piece: str | None = None
    source: str | None = None
    destination: str | None = None
    path: tuple[str, ...] = ()


def chains(opened: Opened, position: Position, asked: Chained) -> list[Chain]:
    """The chains of a position that names every state variable, in document order, depth first.

    Where a path is asked for, single moves that it begins with come as chains of one step. Raises MoveError for a chain
    of more than steps than the limits allow, and for more chains.
    """
    rows = opened.connection.execute(_statement(opened, position, asked)).all()
    require_bounded(opened.revision, max([row.depth for row in rows], default=0), len(rows))
    paths = [_path(row.rank) for row in rows]
    steps = _steps(opened, {step for path in paths for step in path})
    return [
        _chain(row, tuple([steps[step] for step in path]), opened.board, position)
        for row, path in zip(rows, paths, strict=True)
    ]


def explain(opened: Opened, position: Position, asked: Chained) -> tuple[str, list[str]]:
    """The statement that answers a question, with its values in it, and the database's plan for it, line by line."""
    return reading.explained(opened.database, opened.connection, _statement(opened, position, asked))


# --- the statement ---


class _Words(NamedTuple):
    """What the two databases say differently, with {0}, {1}, ... for what it is said of."""

    object: str
    same: str
    find: str
    given: str
    standing: str  # what stands on a square of the position; NULL where nothing does
    changed: str  # what a path has put on a square: "" for nothing, NULL where it has changed nothing there
    value: str  # of an object, the value of a key that may be any text; NULL where there is none
    ordered: str  # an object with those of its pairs `each` that are kept, in the one order that it is compared in
    merged: str  # an object with the keys and values of rows in it, in any order
    listed: str  # the relation `each` of the texts in a list that is sent
    element: str  # the number at a place of a list that is sent; NULL where there is none

    def occupant(self, square: str) -> str:
        """What stands on a square after a path; "" for nothing."""
        return f"coalesce({self.changed.format(square)}, {self.standing.format(square)}, '')"


_POSTGRES: Final = _Words(
    "jsonb",
    "IS NOT DISTINCT FROM",
    "strpos",
    "(SELECT CAST(:board AS jsonb) AS board)",
    "(given.board ->> CAST({0} AS text))",
    "(chain.changes ->> CAST({0} AS text))",
    "({0} ->> {1})",
    "(SELECT coalesce(jsonb_object_agg(each.key, each.value), '{{}}') FROM jsonb_each_text({0}) AS each WHERE {1})",
    "{0} || (SELECT coalesce(jsonb_object_agg({1}, {2}), '{{}}') FROM {3})",
    "jsonb_array_elements_text(CAST({0} AS jsonb)) AS each (value)",
    "CAST((CAST({0} AS jsonb) ->> ({1})) AS integer)",
)
_SQLITE: Final = _Words(
    "text",
    "IS",
    "instr",
    "(SELECT 1)",
    "(SELECT b.piece FROM board_state AS b WHERE b.position = 0 AND b.square = CAST({0} AS integer))",
    "json_extract(chain.changes, '$.\"' || {0} || '\"')",
    "(SELECT each.value FROM json_each({0}) AS each WHERE each.key = {1})",
    "(SELECT json_group_object(o.key, o.value) FROM (SELECT each.key, each.value FROM json_each({0}) AS each WHERE {1} "
    "ORDER BY each.key) AS o)",
    "json_patch({0}, (SELECT json_group_object({1}, {2}) FROM {3}))",
    "json_each({0}) AS each",
    "json_extract({0}, '$[' || ({1}) || ']')",
)


def _statement(opened: Opened, position: Position, asked: Chained) -> TextClause:
    database, connection, revision, board = opened
    numbers, own = board.numbers, position.side
    placed = {numbers[square]: str(piece) for square, piece in position.board.items() if square in numbers}
    if not database.is_server:
        rows = [(0, square, piece, side_of(piece)) for square, piece in placed.items()]
        temporary.make(database, connection, temporary.board_state, rows)
    source = asked.path[0] if asked.path else asked.source
    begins = [
        square
        for square, piece in placed.items()
        if side_of(piece) == own and asked.piece in (None, piece) and source in (None, board.squares[square])
    ]
    held = None if position.hands is None else [piece for piece in position.hands if asked.piece in (None, piece)]
    way = [None if square == HAND else numbers.get(square, -1) for square in asked.path]
    values: dict[str, Any] = {
        "board": {str(square): piece for square, piece in placed.items()},
        "hands": {piece: str(count) for piece, count in (position.hands or {}).items()},
        "state": dict(position.state or {}),
        "begins": begins,
        "held": held or [],
        "way": way,
    }
    sent: dict[str, Any] = {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}
    sent |= {"revision": revision.id, "side": own, "least": 1 if asked.path else 2, "length": len(way)}
    sent |= {"destination": numbers.get(asked.destination or "", -1), "piece": asked.piece or ""}
    written = _text(
        _POSTGRES if database.is_server else _SQLITE, asked, own == "first", source in (None, HAND), held is not None
    )
    types = {"revision": BigInteger, "least": Integer, "length": Integer, "destination": Integer}
    names = [name for name in sent if f":{name}" in written]
    return text(written).bindparams(*[bindparam(name, sent[name], types.get(name, Text)) for name in names])


def _text(words: _Words, asked: Chained, is_first: bool, from_hand: bool, hands_known: bool) -> str:
    start = f"0, {{square}}, {{held}}, CAST('' AS text), CAST('{{{{}}}}' AS {words.object}), {{hands}}, {{state}}, "
    start += "CAST('' AS text), CAST(NULL AS boolean)"
    own = "upper" if is_first else "lower"
    other = "lower" if is_first else "upper"
    hands, state = (words.ordered.format(f"CAST(:{name} AS {words.object})", "TRUE") for name in ("hands", "state"))

    def beginning(square: str, held: str) -> str:
        return start.format(square=square, held=held, hands=hands, state=state)

    seeds = [
        f"SELECT {beginning('CAST(each.value AS integer)', 'CAST(NULL AS text)')} FROM {words.listed.format(':begins')}"
    ]
    if from_hand:
        tests = ["revision_piece.revision_id = :revision", "piece.side = :side"]
        if asked.piece is not None:
            tests.append("piece.identifier = :piece")
        if hands_known:
            tests.append(f"piece.identifier IN (SELECT each.value FROM {words.listed.format(':held')})")
        seeds.append(
            f"SELECT {beginning('CAST(NULL AS integer)', 'CAST(piece.identifier AS text)')}\n"
            "  FROM revision_piece JOIN piece ON piece.id = revision_piece.piece_id\n"
            "  JOIN source ON source.piece_id = piece.id AND source.square IS NULL\n"
            f"  WHERE {' AND '.join(tests)}"
        )

    of_variant = "{0}.piece_id = variant.piece_id AND {0}.variant = variant.number".format
    here = f"'\n' || {' || '.join(f'CAST(chain.{name} AS text)' for name in ('changes', 'hands', 'state'))} || '\n'"
    occupant = words.occupant("condition.square")
    letter = f"substr({occupant}, 1, 1)"
    count = (
        f"coalesce(CAST({words.value.format('chain.hands', 'hand_effect.piece')} AS integer), 0) + hand_effect.delta"
    )
    changes = words.merged.format(
        "chain.changes",
        "CAST(effect.square AS text)",
        "coalesce(effect.becomes, '')",
        f"effect WHERE {of_variant('effect')}",
    )
    hands_after = "chain.hands"
    tests = [
        f"chain.depth <= {limits.CHAIN_STEPS.most}",
        f"{words.find}(chain.seen, {here}) = 0",
        f"""NOT EXISTS (
    SELECT 1 FROM condition
    WHERE {of_variant("condition")} AND (condition.polarity = 'must') <> CASE condition.state
      WHEN 'empty' THEN {occupant} = ''
      WHEN 'enemy' THEN {occupant} <> '' AND {other}({letter}) = {letter}
      ELSE {occupant} = condition.state END)""",
        f"""NOT EXISTS (
    SELECT 1 FROM guard
    WHERE {of_variant("guard")} AND NOT EXISTS (
      SELECT 1 FROM guard AS allowed
      WHERE {of_variant("allowed")} AND allowed.variable = guard.variable
        AND allowed.value = {words.value.format("chain.state", "allowed.variable")}))""",
    ]
    if hands_known:
        moved = words.merged.format(
            "chain.hands",
            "hand_effect.piece",
            f"CAST({count} AS text)",
            f"hand_effect WHERE {of_variant('hand_effect')}",
        )
        hands_after = words.ordered.format(moved, "each.value <> '0'")
        tests.append(
            f"NOT EXISTS (SELECT 1 FROM hand_effect WHERE {of_variant('hand_effect')} "
            f"AND {count} NOT BETWEEN 0 AND {MAX_HAND_COUNT})"
        )
    if asked.path:
        place = words.element.format(":way", "chain.depth + 1")
        tests.append(f"chain.depth + 1 < :length AND destination.square {words.same} {place}")
    stated = words.merged.format(
        "chain.state", "state_effect.variable", "state_effect.value", f"state_effect WHERE {of_variant('state_effect')}"
    )
    rank = " || ".join(
        ["chain.rank"]
        + [
            f"substr(CAST({10**_DIGITS} + {number} AS text), 2)"
            for number in ("revision_piece.ordinal", "variant.number")
        ]
    )
    wanted = "depth >= :least"
    if asked.destination is not None:
        wanted += " AND square IS NULL" if asked.destination == HAND else " AND square = :destination"
    return sql(
        __package__,
        "chains",
        seeds="\n  UNION ALL\n  ".join(seeds),
        rank=rank,
        changes=words.ordered.format(changes, f"each.value <> coalesce({words.standing.format('each.key')}, '')"),
        hands=hands_after,
        state=words.ordered.format(stated, "TRUE"),
        here=here,
        given=words.given,
        standing=words.occupant("chain.square"),
        own=own,
        same=words.same,
        of_variant=of_variant("variant_origin"),
        tests="\n  AND ".join(tests),
        wanted=wanted,
        most=str(limits.CHAINS.most + 1),
    )


# --- what it finds ---


def _path(rank: str) -> list[tuple[int, int]]:
    """The steps of a path: ordinal of the piece and number of the variant."""
    words = [int(rank[start : start + _DIGITS]) for start in range(0, len(rank), _DIGITS)]
    return list(zip(words[::2], words[1::2], strict=True))


def _steps(opened: Opened, keys: set[tuple[int, int]]) -> dict[tuple[int, int], Move]:
    """The moves that are steps, by ordinal of the piece and number of the variant."""
    if not keys:
        return {}
    database, connection, revision, board = opened
    of_revision = t.revision_piece.c.revision_id == revision.id
    ordinals = connection.execute(select(t.revision_piece.c.ordinal, t.revision_piece.c.piece_id).where(of_revision))
    piece_ids = {row.ordinal: row.piece_id for row in ordinals}
    variants = {(piece_ids[ordinal], number): (ordinal, number) for ordinal, number in keys}
    details = reading.read_details(opened, set(variants))
    chosen = temporary.given(database, connection, _CHOSEN, sorted(variants))
    variant = t.variant.c
    key, at = (variant.piece_id, variant.number), (t.source.c.square, t.destination.c.square)
    places = (
        select(*key, t.piece.c.identifier, *at, variant.ordinal, variant.toggle)
        .join(chosen, and_(variant.piece_id == chosen.c.piece_id, variant.number == chosen.c.variant))
        .join(t.piece, t.piece.c.id == t.variant.c.piece_id)
        .join(t.source, t.VARIANT_OF_SOURCE)
        .join(t.destination, t.VARIANT_OF_DESTINATION)
    )
    found: dict[tuple[int, int], Move] = {}
    for piece_id, number, piece, source, destination, ordinal, toggle in connection.execute(places):
        move = details[piece_id, number].move(piece, board.label(source), board.label(destination), ordinal, toggle)
        found[variants[piece_id, number]] = move
    return found


def _chain(row: Any, steps: tuple[Move, ...], board: Board, position: Position) -> Chain:
    changes: Mapping[str, str] = json.loads(row.changes)
    placed = {board.squares[int(number)]: piece or None for number, piece in changes.items()}
    before = position.state or {}
    state = {name: value for name, value in json.loads(row.state).items() if before.get(name) != value}
    if position.hands is None:
        hands = _summed(steps)
    else:
        held = {piece: int(count) for piece, count in json.loads(row.hands).items()}
        pieces = sorted({*held, *position.hands})
        hands = {piece: held.get(piece, 0) - position.hands.get(piece, 0) for piece in pieces}
    effects = Transition(placed, {piece: delta for piece, delta in hands.items() if delta}, bool(row.toggle), state)
    return Chain(steps, effects, position.after(effects))


def _summed(steps: Sequence[Move]) -> dict[str, int]:
    hands: dict[str, int] = {}
    for step in steps:
        for piece, delta in {} if step.transition is None else step.transition.hands.items():
            hands[piece] = hands.get(piece, 0) + delta
    return hands
