"""Who last changed what: the revision that gave each entry and field the value that it has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from sqlalchemy import Connection

from ggn_store.errors import UnknownNameError, offer, quote
from ggn_store.model.changes.changes import Possibilities
from ggn_store.model.changes.diff import entries_of
from ggn_store.model.teams.history import Blame, fields_of
from ggn_store.model.teams.revision import Reference, Revision
from ggn_store.store.database import engine
from ggn_store.store.history import log
from ggn_store.store.history.log import EntryKey, EntryRows
from ggn_store.store.rulesets import catalog
from ggn_store.store.rulesets.pieces import read_piece

# So many pieces that were read last are kept: a merge has two parents, which may have one piece.
_KEPT: Final = 8


def blame(
    database: engine.Database,
    connection: Connection,
    reference: str | Reference,
    piece: str | None = None,
    source: str | None = None,
    destination: str | None = None,
) -> list[Blame]:
    """Which revision gave each entry and field the value that it has in the revision that a reference names.

    Of a merge, what is as in one of its parents comes from there. Raises UnknownNameError where nothing is to blame.
    """
    return _Blaming(database, connection, catalog.find(connection, reference)).blame(piece, source, destination)


class _Blaming:
    """A walk back through the history of a revision, which takes along what has not been found to be changed yet."""

    def __init__(self, database: engine.Database, connection: Connection, revision: Revision) -> None:
        self._database = database
        self._connection = connection
        self._revision = revision
        self._keys = catalog.piece_keys(connection, revision)
        self._parents = log.ancestry(connection, revision)
        self._revisions = log.revisions(connection, revision, min(self._parents), revision.number)
        self._steps = log.steps(connection, revision, min(self._parents), revision.number)
        self._board = catalog.read_board(connection, revision.board_id)
        self._entries = lru_cache(_KEPT)(self._read_entries)
        self._words = lru_cache(_KEPT)(self._read_words)
        self._boards = lru_cache(_KEPT)(lambda board_id: catalog.read_board(connection, board_id))

    def _read_entries(self, piece_id: int) -> dict[EntryKey, EntryRows]:
        return log.entries(self._database, self._connection, piece_id)

    def _read_words(self, piece_id: int, piece: str, board_id: int) -> dict[tuple[str, str], Possibilities]:
        read = read_piece(self._connection, piece_id, self._boards(board_id))
        return {
            (source.square, square): possibilities
            for source in read.sources
            for square, possibilities in entries_of(source).items()
        }

    def blame(self, piece: str | None, source: str | None, destination: str | None) -> list[Blame]:
        """The blame of all that is asked for: fields first, then entries in document order."""
        asked = {
            identifier: {
                place: said
                for place, said in self._read_entries(key.id).items()
                if source in (None, self._board.label(place[0])) and destination in (None, self._board.label(place[1]))
            }
            for identifier, key in self._keys.items()
            if piece in (None, identifier)
        }
        if not any(asked.values()):
            raise UnknownNameError(self._missing(piece, source, destination))
        is_whole = (piece, source, destination) == (None, None, None)
        fields = fields_of(self._revision) if is_whole else {}
        by_field = self._walk_fields(fields)
        by_place = self._walk(asked)
        return [Blame(by_field[name], field=name) for name in fields] + [
            Blame(by_place[identifier, place], identifier, self._board.label(place[0]), self._board.label(place[1]))
            for identifier, places in asked.items()
            for place in places
        ]

    def _missing(self, piece: str | None, source: str | None, destination: str | None) -> str:
        if piece is not None and piece not in self._keys:
            return f"{self._revision} has no rules for the piece {quote(piece)}; it has {offer(list(self._keys))}"
        wanted = [(piece, "for"), (source, "from"), (destination, "to")]
        return f"{self._revision} has no rules " + " ".join(f"{word} {quote(each)}" for each, word in wanted if each)

    def _walk_fields(self, fields: Mapping[str, str]) -> dict[str, Revision]:
        found: dict[str, Revision] = {}
        waiting = {self._revision.number: set(fields)}
        for number, parents in self._parents.items():
            here = waiting.pop(number, set())
            for parent in parents:
                there = fields_of(self._revisions[parent]) if here else {}
                same = {name for name in here if there.get(name) == fields[name]}
                waiting.setdefault(parent, set()).update(same)
                here -= same
            found |= dict.fromkeys(here, self._revisions[number])
        return found

    def _walk(self, asked: Mapping[str, Mapping[EntryKey, EntryRows]]) -> dict[tuple[str, EntryKey], Revision]:
        found: dict[tuple[str, EntryKey], Revision] = {}
        waiting: dict[int, dict[str, set[EntryKey]]] = {
            self._revision.number: {piece: set(entries) for piece, entries in asked.items() if entries}
        }
        for number, parents in self._parents.items():
            here = waiting.pop(number, {})
            for parent in parents:
                there = waiting.setdefault(parent, {})
                step = self._steps.get((number, parent), {})
                for piece in [*here]:
                    places = here[piece]
                    same = self._same(piece, places, asked[piece], parent, step[piece][1]) if piece in step else places
                    if piece in there:
                        there[piece] |= same
                    elif same:
                        there[piece] = set(same)
                    here[piece] = places - same
                    if not here[piece]:
                        del here[piece]
            found |= {(piece, place): self._revisions[number] for piece, places in here.items() for place in places}
            if not any(waiting.values()):
                break
        return found

    def _same(
        self, piece: str, places: set[EntryKey], asked: Mapping[EntryKey, EntryRows], parent: int, piece_id: int | None
    ) -> set[EntryKey]:
        """Of the entries at `places`, those that the parent has with the value that they have in the end."""
        if piece_id is None:
            return set()
        board_id = self._revisions[parent].board_id
        if board_id == self._revision.board_id:
            entries = self._entries(piece_id)
            return {place for place in places if entries.get(place) == asked[place]}
        old = self._words(piece_id, piece, board_id)
        new = self._words(self._keys[piece].id, piece, self._revision.board_id)
        labels = {place: (self._board.label(place[0]), self._board.label(place[1])) for place in places}
        return {place for place, label in labels.items() if old.get(label) == new[label]}
