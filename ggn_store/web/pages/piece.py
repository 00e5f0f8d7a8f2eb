"""`/piece/RULESET?piece=C:N`: what a piece can do from each square, how mobile it is, and what moves like it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ggn_store.errors import PictureError
from ggn_store.model.pictures.picture import Diagram, Link
from ggn_store.notation.hand import HAND
from ggn_store.render.diagrams import to_svg
from ggn_store.render.layout import require_drawable
from ggn_store.web import links
from ggn_store.web.boards import called, names_of
from ggn_store.web.page import STYLE, Answer, Asked, Page, Parameter, limit


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
    shown: dict[str, Any] = {"ruleset": ruleset, "names": names, "svg": None, "marks": (), "source": None}
    try:
        require_drawable(ruleset.board)
        picture = ruleset.pictures.picture(piece=piece, source=asked.text("source"), style=style)
        assert isinstance(picture, Diagram)  # noqa: S101  (of a piece)
        squares = {
            square: Link(
                links.to("/piece", asked.reference, piece=piece, source=square, style=style) + "#board",
                called(piece, square, names),
            )
            for square in sources
            if square not in (HAND, picture.source)
        }
        data |= {"source": picture.source, "marks": {mark.square: mark.words for mark in picture.marks}}
        shown |= {"svg": to_svg(replace(picture, links=squares)), "marks": picture.marks, "source": picture.source}
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
