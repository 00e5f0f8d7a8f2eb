"""What the text that a document was made from calls its pieces: no store reads definitions and game descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ggn_store.errors import UNSTORABLE, GgnStoreError
from ggn_store.model.documents.document import Envelope

if TYPE_CHECKING:
    from ggn_store.games.rules import Definition


def names_of(envelope: Envelope) -> Mapping[str, str]:
    """The names of pieces, by identifier; none where there is no such text, or it cannot be read."""
    text = envelope.definition
    if text is None:
        return {}
    try:
        if envelope.is_described:
            from ggn_store.gdl.check import reread_specification
            from ggn_store.gdl.compile import piece_names

            found = piece_names(reread_specification(text))
        else:
            from ggn_store.games import definition

            found = names_in(definition.reread(text))
    except GgnStoreError:  # who asks for the definition is told
        return {}
    return {piece: name for piece, name in found.items() if not UNSTORABLE.search(name)}


def names_in(definition: Definition) -> dict[str, str]:
    """What a definition calls pieces, by identifier."""
    return {piece: form.piece.name for piece, form in definition.forms.items() if form.piece.name}
