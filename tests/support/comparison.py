"""Documents to compare, and how many random ones."""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import strategies as st

from ggn_store import Document, parse
from ggn_store.model.documents.document import Envelope

MANY = int(os.environ.get("GGN_DIFF_EXAMPLES", "20000"))


def document(content: dict[str, Any], **fields: str) -> Document:
    return parse(json.dumps(content), envelope=Envelope(**fields))


def same(left: Document, right: Document) -> bool:
    """Whether two documents are the same to the byte, and have the same fields."""
    return (left.canonical(), left.dialect, left.envelope) == (right.canonical(), right.dialect, right.envelope)


KEYS = st.lists(st.sampled_from("abcdefgh"), unique=True)
