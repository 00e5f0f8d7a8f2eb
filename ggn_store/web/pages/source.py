"""`/source/RULESET`: the definition or game description that a revision was made from, line by line."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any, Final

from ggn_store import limits
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import GgnStoreError, UnknownNameError, did_you_mean, quote
from ggn_store.games.made import KEYS, made_by
from ggn_store.model.teams.revision import is_proposal
from ggn_store.notation.hand import HAND
from ggn_store.web import links
from ggn_store.web.page import OFFSET, Answer, Asked, Page, Parameter, limit
from ggn_store.web.refusal import AskedError

# The table of a piece, or one inside it.
_TABLE: Final = re.compile(
    r"""\s*\[\[?(?:pieces|first|second)\.(?:"([^"]+)"|([A-Za-z0-9_-]+))(?:\.([a-z_]+))?(?:\.[a-z_]+)*\]"""
)
# A piece, or a key of one, in the table of all of them.
_GROUP: Final = re.compile(r"\s*\[(?:pieces|first|second)\]")
_PIECE: Final = re.compile(r"""(?:"([^"]+)"|([A-Za-z0-9_-]+))(?:\.([a-z_]+))?[ .=]""")
_KEY: Final = re.compile(r"\s*([a-z_]+)\s*=")
# A piece is written twice to see what a key makes.
_LIMITS: Final = {"possibilities": 20_000}
_OF_ACTION: Final = (
    "SELECT DISTINCT piece, source, destination FROM v_moves_all "
    "WHERE ruleset = :ruleset AND revision = :revision AND action = :action"
)
_MOST_MADE: Final = 20_000
_SECONDS: Final = 10.0


def lines_of(ruleset: Ruleset, text: str, reference: str) -> list[tuple[int, str, str | None]]:
    """The lines of a definition, each with its number, and where it leads.

    That is to a piece where its table begins, and to the moves that a key of it makes; of a game description, to the
    moves that an action makes where it begins.
    """
    specification = None if is_proposal(ruleset.revision.name) else ruleset.handle.specification
    if specification is not None:
        begun = {each.place.line: each.name for each in specification.allowed_actions()}
        return [
            (number, line, _to_action(reference, begun[number]) if number in begun else None)
            for number, line in enumerate(text.splitlines(), 1)
        ]
    definition = ruleset.definition
    tokens: dict[str, str] = {}
    if definition is not None:
        for identifier, form in definition.forms.items():
            if identifier in ruleset.pieces:
                tokens.setdefault(form.piece.token, identifier)
    found = []
    token, inner, together = None, None, False
    for number, line in enumerate(text.splitlines(), 1):
        address = None
        table = _TABLE.match(line) or (_PIECE.match(line) if together else None)
        if table is not None:
            token, key = table[1] or table[2], table[3]
            inner = key
            if token in tokens and key not in KEYS:
                address = links.to("/piece", reference, piece=tokens[token])
        else:
            token = None if line.startswith("[") else token
            match = None if inner or together else _KEY.match(line)
            key = None if match is None else match[1]
        if token in tokens and key in KEYS:
            address = f"{links.to('/source', reference, token=token, key=key)}#made"
        if line.startswith("["):
            together = _GROUP.match(line) is not None
        found.append((number, line, address))
    return found


def _to_action(reference: str, name: str) -> str:
    return f"{links.to('/source', reference, action=name)}#made"


def source_of(ruleset: Ruleset) -> str | None:
    """The definition, None where a document was loaded."""
    try:
        return ruleset.export_definition()
    except UnknownNameError:
        return None


def _show(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    text = ruleset.export_definition()
    lines = lines_of(ruleset, text, asked.reference)
    first, most = asked.number("offset"), asked.number("limit")
    made = _made(asked, ruleset)
    by_source = [] if made is None else groupby(made, lambda entry: entry[:2])
    return Answer(
        {"revision": ruleset.revision.data(), "lines": len(lines), "definition": text, "made": made},
        {
            "ruleset": ruleset,
            "shown_lines": lines[first : first + most],
            "made_from": [(piece, source, [to for _, _, to in entries]) for (piece, source), entries in by_source],
        },
        fixed=asked.site.is_fixed(asked.reference, ruleset.revision),
    )


def _made(asked: Asked, ruleset: Ruleset) -> list[Any] | None:
    """The entries that an action, or a key of a piece's table, makes; None where nobody asks."""
    action = asked.text("action")
    if action is not None:
        return _made_by_action(asked, ruleset, action)
    token, key = asked.text("token"), asked.text("key")
    if token is None and key is None:
        return None
    if token is None or key is None:
        raise AskedError("moves are made by a key of a piece's table: name both, token and key")
    definition = ruleset.definition
    pieces = {} if definition is None else {each.token: each for each in definition.pieces}
    if definition is None or token not in pieces:
        raise AskedError(f"the definition has no piece {quote(token)}{did_you_mean(token, pieces)}", 404)
    try:
        with limits.allow(_LIMITS):
            return made_by(definition, pieces[token], key)
    except GgnStoreError:
        most = _LIMITS["possibilities"]
        raise AskedError(f"{token} has more than {most:,} possibilities: too many to look for those of a key") from None


def _made_by_action(asked: Asked, ruleset: Ruleset, action: str) -> list[Any]:
    specification, revision = ruleset.handle.specification, ruleset.revision
    actions = [] if specification is None else [each.name for each in specification.actions]
    if action not in actions or is_proposal(revision.name):
        raise AskedError(f"the game description has no action {quote(action)}{did_you_mean(action, actions)}", 404)
    values = {"ruleset": revision.name, "revision": revision.number, "action": action}
    found = asked.site.store.sql(_OF_ACTION, values, limit=_MOST_MADE, timeout=_SECONDS)
    if found.cut:
        raise AskedError(f"{quote(action)} makes too many moves to list them here: {found.cut}")
    pieces = {each: number for number, each in enumerate(ruleset.pieces)}
    squares = {HAND: -1, **ruleset.board.numbers}
    return sorted(map(tuple, found.rows), key=lambda row: (pieces[row[0]], squares[row[1]], squares[row[2]]))


PAGE = Page(
    "source",
    "/source/{ruleset}",
    "The definition or game description that a revision was made from.",
    _show,
    "source.html",
    (
        OFFSET,
        limit(2_000, 20_000),
        Parameter("token", "with a key: of this piece, as its table is called, such as N or +P", most=10),
        Parameter("key", "the moves that this key of the piece's table makes", choices=KEYS),
        Parameter("action", "the moves that this action of the game description makes"),
    ),
    long=("key", "action"),
    shows_of=lambda asked, revision: (),
)
