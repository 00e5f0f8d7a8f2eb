"""`/source/RULESET`: the definition or game description that a revision was made from, line by line."""

from __future__ import annotations

import re
from typing import Final

from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import UnknownNameError
from ggn_store.web.page import OFFSET, Answer, Asked, Page, limit

_TABLE: Final = re.compile(r"""\s*\[pieces\.(?:"([^"]+)"|([A-Za-z0-9_-]+))\]""")


def lines_of(ruleset: Ruleset, text: str) -> list[tuple[int, str, str | None]]:
    """The lines of a definition, each with its number, and with the piece whose rules begin there, if some do."""
    definition = ruleset.definition
    tokens: dict[str, str] = {}
    if definition is not None:
        for identifier, form in definition.forms.items():
            tokens.setdefault(form.piece.token, identifier)
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _TABLE.match(line)
        piece = None if match is None else tokens.get(match[1] or match[2])
        found.append((number, line, piece if piece in ruleset.pieces else None))
    return found


def source_of(ruleset: Ruleset) -> str | None:
    """The definition, None where a document was loaded."""
    try:
        return ruleset.export_definition()
    except UnknownNameError:
        return None


def _show(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    text = ruleset.export_definition()
    lines = lines_of(ruleset, text)
    first, most = asked.number("offset"), asked.number("limit")
    return Answer(
        {"revision": ruleset.revision.data(), "lines": len(lines), "definition": text},
        {"ruleset": ruleset, "shown_lines": lines[first : first + most]},
        fixed=asked.site.is_fixed(asked.reference, ruleset.revision),
    )


PAGE = Page(
    "source",
    "/source/{ruleset}",
    "The definition or game description that a revision was made from.",
    _show,
    "source.html",
    (OFFSET, limit(2_000, 20_000)),
)
