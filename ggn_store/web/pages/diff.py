"""`/diff?a=chess@1&b=chess@2`: what changed, as text, and as boards with the moves that were gained and lost."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from ggn_store import limits
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import GgnStoreError, counted, printable
from ggn_store.model.changes.changes import Diff
from ggn_store.model.changes.diff import NOTHING, Outline, diff_pieces
from ggn_store.model.pictures.picture import ChangedMoves
from ggn_store.model.record import Record
from ggn_store.model.teams.proposal import Proposal
from ggn_store.model.teams.revision import is_proposal
from ggn_store.render.diagrams import to_svg
from ggn_store.render.diff import diff_text
from ggn_store.web.boards import names_of
from ggn_store.web.page import OFFSET, Answer, Asked, Page, Parameter, limit
from ggn_store.web.refusal import AskedError
from ggn_store.web.site import Compared

_PICTURES: Final = 12
_MANY: Final = ("possibility", "possibilities")
_CLASSES: Final = {"+": "added", "-": "removed", "~": "changed"}


def lines_of(difference: Diff, first: int, most: int) -> tuple[list[tuple[str, str]], bool]:
    """Lines of a difference as text, each with what it is; and whether there are more."""
    found = [line.rstrip("\n") for line in islice(diff_text(difference), first, first + most + 1)]
    return [(_CLASSES.get(line[:1], ""), line) for line in found[:most]], len(found) > most


def compare(
    asked: Asked,
    key: Hashable,
    before: str,
    after: str | None = None,
    piece: str | None = None,
    source: str | None = None,
    *,
    older: str | None = None,
) -> tuple[Compared, dict[str, Any]]:
    """What differs, `key` says between what; and its JSON. Of too much for a page no piece is read.

    `older` names what is before, where there is anything; what becomes of all pieces together is told in words.
    """

    def made() -> Compared:
        history = asked.site.store.history
        if piece is not None and source is not None:
            return Compared(history.diff(before, after, piece, [source]), part=(source,))
        fields, sizes = history.outline(before, after)
        if piece is not None:
            sizes = {each: size for each, size in sizes.items() if each == piece}
        if _is_few(sizes):
            told: Sequence[Record] = ()
            if older is not None and sizes and piece is None:
                told = asked.site.store.analysis().compare(older, after or before, sizes)
            return Compared(history.diff(before, after, piece), told=told)
        if piece is None:
            return Compared(fields, sizes)
        sources = history.differing_sources(before, after, piece)
        if _is_few(sources):
            return Compared(history.diff(before, after, piece, [*sources]), part=tuple(sources))
        return Compared(Diff(), sizes, sources)

    found = asked.site.differences.get(key, made)
    kinds: dict[str, str] = {each.piece: each.kind for each in found.difference.pieces}
    kinds |= {each: _kind(*size) for each, size in found.pieces.items()}
    data: dict[str, Any] = {
        "counts": found.difference.counts() | {"pieces": len(kinds)},
        "summary": str(found.difference),
        "fields": [each.name for each in found.difference.fields],
        "pieces": kinds,
        "told": [each.data() for each in found.told],
    }
    if found.pieces:
        data["summary"] = f"{counted(len(kinds), 'piece')} of {counted(sum(map(sum, found.pieces.values())), *_MANY)}"
        data["sizes"] = {each: [*size] for each, size in found.pieces.items()}
    if found.sources:
        data["sources"] = {each: [*size] for each, size in found.sources.items()}
    return found, data


def told_of(asked: Asked, compared: Compared, older: str | None) -> dict[str, Any]:
    """What a page tells in words, with the names of the pieces that were there before."""
    told = compared.told
    return {"told": told, "names": names_of(asked.site.ruleset(older)) if told and older is not None else {}}


def _is_few(sizes: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a page compares so many possibilities before and after."""
    return sum(map(sum, sizes.values())) <= limits.COMPARED.most


def _kind(before: int, after: int) -> str:
    return "added" if not before else "changed" if after else "removed"


def sizes_of(asked: Asked, compared: Compared) -> dict[str, Any]:
    """What a page shows in place of a difference that is too large: pieces, or of one piece the sources."""
    is_piece = bool(compared.sources)
    sizes = compared.sources or compared.pieces
    first, most = asked.number("offset") if is_piece else 0, asked.number("limit")
    shown = [*sizes.items()][first : first + most] if is_piece else [*sizes.items()]
    return {
        # Those that lead on have a page: pieces always, sources where it can compare as much.
        "sizes": [
            {"name": name, "before": old, "after": new, "kind": _kind(old, new)}
            | {"leads": not is_piece or _is_few({name: (old, new)})}
            for name, (old, new) in shown
        ],
        "sizes_of": "source" if is_piece else "piece",
        "sizes_total": sum(map(sum, sizes.values())),
        "more_sizes": first + most < len(sizes) and is_piece,
    }


def pictures_of(
    asked: Asked, compared: Compared, sides: tuple[str, str | None], number: int, key: Hashable
) -> tuple[list[dict[str, str]], bool]:
    """Pictures of a difference from a number on, and whether there are more; `key` says what differs."""

    def draw() -> tuple[ChangedMoves, ...]:
        pictures = asked.site.store.history.pictures(compared.difference, *sides, compared.part)
        return tuple(islice(pictures, number, number + _PICTURES + 1))

    found = []
    for picture in asked.site.pictures.get((key, number), draw):
        try:
            found.append({"title": picture.title, "svg": to_svg(picture)})
        except GgnStoreError as error:
            found.append({"title": picture.title, "svg": "", "why": asked.site.told(error)})
    return found[:_PICTURES], len(found) > _PICTURES


def verdicts_of(proposal: Proposal, person: str | None) -> list[tuple[str, str]]:
    """What somebody can do with a proposal but comment, and in words; the store itself judges whether they may."""
    if person is None or proposal.state not in ("open", "stale"):
        return []
    if person == proposal.who:
        return [("withdraw", "Withdraw")]
    found = [("reject", "Reject")]
    if proposal.state == "open" and person not in proposal.approvals:
        is_last = proposal.needed - len(proposal.approvals) <= 1
        found.insert(0, ("approve", "Approve and merge" if is_last else "Approve"))
    return found


def _show(asked: Asked) -> Answer:
    before, after = asked.text("a"), asked.text("b")
    if before is None:
        return Answer({"before": None, "after": None, "summary": None})
    store = asked.site.store
    revision = asked.site.revision
    newer = revision(before if after is None else after)
    if after is not None:
        older: str | None = str(revision(before))
    else:
        older = None if newer.parent is None else f"{newer.name.partition('#')[0]}@{newer.parent}"
    piece, source = asked.text("piece"), asked.text("source")
    if source is not None and piece is None:
        raise AskedError("a source is that of a piece: name the piece, too")
    # Of a revision that is named by its history, the parent is, too.
    named = [before] if after is None else [before, after]
    is_fixed = all(asked.site.is_fixed(each, revision(each)) for each in named)
    if older is None and piece is None and not is_proposal(newer.name):
        return replace(_first(asked, asked.site.ruleset(before)), fixed=is_fixed)
    key = (older, "" if older is None else revision(older).lineage, newer.name, newer.lineage, piece, source)
    compared, data = compare(asked, key, before, after, piece, source, older=older)
    difference = compared.difference
    data = {"before": older, "after": str(newer), **data}
    proposal = store.reviews.get(newer.name) if is_proposal(newer.name) else None
    lines, has_more = lines_of(difference, asked.number("offset"), asked.number("limit"))
    data |= {"lines": [line for _, line in lines], "more": has_more}
    pictures, has_pictures = pictures_of(asked, compared, (before, after), asked.number("picture"), key)
    shown = sizes_of(asked, compared) | {
        "revision": newer,
        "differs": bool(difference or compared.pieces),
        "rows": lines,
        "has_more": has_more,
        "pictures": pictures,
        "proposal": proposal,
        "verdicts": [] if proposal is None else verdicts_of(proposal, asked.person),
        "next_picture": asked.number("picture") + _PICTURES if has_pictures else None,
        **told_of(asked, compared, older),
    }
    return Answer(data, shown, fixed=is_fixed)


def _first(asked: Asked, ruleset: Ruleset) -> Answer:
    """What is in a first revision, of which everything is new: its fields, and how much is in each piece."""
    revision, pieces = ruleset.revision, ruleset.piece_summaries()
    difference = diff_pieces(NOTHING, Outline(revision.dialect, revision.envelope, ()), ())
    total = sum(each["possibilities"] for each in pieces)
    counts = {"fields": len(difference.fields)} | dict.fromkeys(("pieces", "pieces_added"), len(pieces))
    first, most = asked.number("offset"), asked.number("limit")
    rows = [*lines_of(difference, 0, first + most)[0], *(("added", _in_words(each)) for each in pieces)]
    shown_rows, has_more = rows[first : first + most], len(rows) > first + most
    data = {
        "before": None,
        "after": str(revision),
        "counts": counts | {"possibilities_added": total},
        "summary": f"{counted(len(pieces), 'piece')} with {counted(total, *_MANY)}",
        "fields": [each.name for each in difference.fields],
        "pieces": {each["piece"]: "added" for each in pieces},
        "lines": [line for _, line in shown_rows],
        "more": has_more,
    }
    shown = {
        "revision": revision,
        "differs": True,
        "sizes": [],
        "told": [],
        "rows": shown_rows,
        "has_more": has_more,
        "pictures": [],
        "proposal": None,
        "verdicts": [],
        "next_picture": None,
    }
    return Answer(data, shown)


def _in_words(piece: Mapping[str, Any]) -> str:
    words = [counted(piece[name], name[:-1]) for name in ("sources", "conditions")]
    words.insert(1, counted(piece["possibilities"], *_MANY))
    return f"+ {printable(piece['piece'])}: {', '.join(words)}"


PAGE = Page(
    "diff",
    "/diff",
    "What changed from one revision, proposal or ruleset to another: text, and boards before and after.",
    _show,
    "diff.html",
    (
        Parameter("a", "the older one; alone, it is compared with its parent or its base", most=400),
        Parameter("b", "the newer one", most=400),
        Parameter("piece", "only this piece"),
        Parameter("source", "of the piece, only what it can do from this square, * for the hand", most=255),
        Parameter("picture", "the number of the first picture", "number", "0", 0, 100_000),
        OFFSET,
        limit(600, 5_000),
    ),
    long=("a",),
)
