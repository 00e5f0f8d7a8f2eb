"""What lint finds in a document, as the tests of lint ask for it."""

from __future__ import annotations

from typing import Any

from ggn_store.documents.ggn import parse
from ggn_store.documents.lint import lint
from ggn_store.model.documents.document import Envelope

Json = dict[str, Any]


def found(data: Json, code: str, **envelope: str) -> list[tuple[str, str]]:
    """Pointer and message of the findings of one class."""
    findings = lint(parse(data, envelope=Envelope(**envelope)))
    return [(finding.pointer, finding.message) for finding in findings if finding.code == code]


def places(data: Json, code: str, **envelope: str) -> list[str]:
    return [pointer for pointer, _ in found(data, code, **envelope)]
