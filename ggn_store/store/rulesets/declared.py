"""Is what a stored document declares beside its pieces sound: state variables, of which these name no others, play?"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from ggn_store.errors import NotationError, quote
from ggn_store.model.documents import variables
from ggn_store.model.documents.document import Dialect, Envelope
from ggn_store.model.moves import play_text
from ggn_store.store.rulesets import catalog
from ggn_store.store.schema import tables as t


def fault(connection: Connection, dialect: Dialect, envelope: Envelope, piece_ids: Sequence[int]) -> str | None:
    """What is wrong with what a document declares; None where nothing is."""
    try:
        play_text.parse(envelope.play)
    except NotationError as error:
        return str(error)
    return _fault_of_state(connection, dialect, envelope, piece_ids)


def _fault_of_state(
    connection: Connection, dialect: Dialect, envelope: Envelope, piece_ids: Sequence[int]
) -> str | None:
    if dialect != "gdl":
        return (
            None if envelope.variables is None else f"a document of the dialect {dialect} declares no state variables"
        )
    try:
        declared = variables.parse(envelope.variables)
    except NotationError as error:
        return str(error)
    known = {(each.name, value) for each in declared.values() for value in each.values}
    for table in (t.guard, t.state_effect):
        for some in catalog.batches(piece_ids):
            query = select(table.c.variable, table.c.value).where(table.c.piece_id.in_(some)).distinct()
            for variable, value in connection.execute(query):
                if (variable, value) not in known:
                    return f"its pieces name {quote(variable)} with the value {quote(value)}, which it does not declare"
    return None
