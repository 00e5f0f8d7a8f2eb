"""`/piece/RULESET?piece=C:N`: what a piece can do from each square, how mobile it is, and what moves like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import PictureError
from ggn_store.model.pictures.picture import Diagram, Link
from ggn_store.notation.hand import HAND
from ggn_store.render.diagrams import to_svg
from ggn_store.render.layout import require_drawable
from ggn_store.render.legend import MEANINGS, shapes
from ggn_store.web import links
from ggn_store.web.boards import called, names_of
from ggn_store.web.page import STYLE, Answer, Asked, Page, Parameter, limit

# Destinations from all squares together, of a piece that a file shows from each of them: some 100 kB.
_MOST: Final = 2_500


def _show(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    piece = asked.text("piece") or ruleset.pieces[0]
    names = names_of(ruleset)
    style = asked.text("style")
    sources = [*ruleset.select(piece).sources]
    analysis = ruleset.analysis()
    [mobility] = analysis.mobility(piece)
    summary = next(row for row in ruleset.piece_summaries() if row["piece"] == piece)
    data: dict[str, Any] = {
        "revision": ruleset.revision.data(),
        "piece": piece,
        "name": names[piece],
        "summary": summary,
        "mobility": mobility.data(),
        "sources": sources,
    }
    shown: dict[str, Any] = {"ruleset": ruleset, "names": names, "svg": None, "marks": (), "source": None, "each": None}
    try:
        require_drawable(ruleset.board)
        picture = ruleset.pictures.picture(piece=piece, source=asked.text("source"), style=style)
        assert isinstance(picture, Diagram)  # noqa: S101  (of a piece)
        data |= {"source": picture.source, "marks": {mark.square: mark.words for mark in picture.marks}}
        shown |= {"marks": picture.marks, "source": picture.source}
        if asked.is_file:
            picture, shown["each"] = _from_each(ruleset, summary, picture, is_aside=asked.text("source") is not None)
        squares = {
            square: Link(_to(asked, piece, square, picture), called(piece, square, names))
            for square in sources
            if square not in (HAND, picture.source) and (not asked.is_file or shown["each"] is not None)
        }
        shown |= {"svg": to_svg(replace(picture, links=squares))}
    except PictureError as error:
        shown |= {"unseen": str(error)}
    data |= {"movers": None, "uses": None}
    if asked.flag("movers"):
        found = asked.site.store.analysis().same_movers((), piece=piece, ruleset=str(ruleset.revision))
        movers = [record for group in found.groups for record in group.records()]
        data |= {"movers": movers[: asked.number("limit")], "movers_count": len(movers)}
    if asked.flag("uses"):
        data |= {"uses": [each.data() for each in analysis.uses(piece)]}
    return Answer(data, shown, fixed=asked.site.is_fixed(asked.reference, ruleset.revision) and not data["movers"])


def _from_each(
    ruleset: Ruleset, summary: Mapping[str, Any], picture: Diagram, *, is_aside: bool
) -> tuple[Diagram, list[Any] | None]:
    """The picture with what the piece does from every square, and that in words; None where it is too much.

    A page that `is_aside` leads to the piece's own page for them.
    """
    if summary["destinations"] > _MOST or summary["possibilities"] > 10 * _MOST:
        return picture, None
    found = [*ruleset.pictures.from_each(summary["piece"])]
    told = []
    for each in found:
        squares: dict[str, list[str]] = {}
        for mark in each.marks:
            words = "; ".join(MEANINGS[shape] for shape in shapes(mark))
            squares.setdefault(words, []).append("the hand" if mark.square == HAND else mark.square)
        told.append((each.source, f"#{picture.anchor(str(each.source))}", squares))
    return replace(picture, others=() if is_aside else tuple(found)), told


def _to(asked: Asked, piece: str, square: str, picture: Diagram) -> str:
    """The address of what a piece does from a square."""
    if not asked.is_file:
        return links.to("/piece", asked.reference, piece=piece, source=square, style=asked.text("style")) + "#board"
    page = "" if picture.others else links.to("/piece", asked.reference, piece=piece)
    return f"{page}#{picture.anchor(square)}"


PAGE = Page(
    "piece",
    "/piece/{ruleset}",
    "A piece: all that it can do from a square, its mobility, what moves like it, which rules mention it.",
    _show,
    "piece.html",
    (
        Parameter("piece", "the piece; without it, the first"),
        Parameter("source", "from this square, or * for the hand", most=255),
        Parameter("movers", "which pieces of all games move like it", "flag"),
        Parameter("uses", "which rules mention it", "flag"),
        STYLE,
        limit(200, 5_000),
    ),
    long=("movers", "uses"),
)
