"""`/piece/RULESET?piece=C:N`: what a piece can do from each square, how mobile it is, and what moves like it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from ggn_store.errors import PictureError
from ggn_store.model.moves.position import SIDES
from ggn_store.model.pictures.picture import Diagram, Link
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.render.diagrams import to_svg
from ggn_store.render.layout import require_drawable
from ggn_store.render.legend import MEANINGS, shapes
from ggn_store.web import links
from ggn_store.web.boards import called, names_of
from ggn_store.web.page import STYLE, Answer, Asked, Page, Parameter, limit

# Destinations from all squares together, of a piece that a file shows from each of them: some 200 kB.
_MOST: Final = 5_000


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
    shown: dict[str, Any] = {"ruleset": ruleset, "names": names, "svg": None, "marks": (), "source": None, "each": ()}
    shown |= {"of_side": {side: [each for each in ruleset.pieces if side_of(each) == side] for side in SIDES}}
    try:
        require_drawable(ruleset.board)
        # The page of the hand leads to the piece's own page, which a file has with all squares.
        has_each = asked.is_file and summary["destinations"] <= _MOST and summary["possibilities"] <= 10 * _MOST
        each_source = tuple(ruleset.pictures.from_each(piece)) if has_each and asked.text("source") is None else ()
        picture = ruleset.pictures.picture(piece=piece, source=asked.text("source"), style=style)
        assert isinstance(picture, Diagram)  # noqa: S101  (of a piece)
        data |= {"source": picture.source, "marks": {mark.square: mark.words for mark in picture.marks}}
        shown |= {"marks": picture.marks, "source": picture.source}
        if each_source:
            picture = replace(picture, caption="", others=each_source)
        shown |= {"each": [*_told(each_source)], "has_each": has_each}
        page = links.to("/piece", asked.reference, piece=piece, style=style)
        others = [each for each in sources if each not in (HAND, picture.source)]
        if not asked.is_file:
            addresses = [f"{page}&source={quote(each, safe='')}#board" for each in others]
        else:
            here = "" if picture.others else page
            addresses = [f"{here}#{picture.anchor(each)}" for each in others] if has_each else []
        words = (called(piece, each, names) for each in others)
        squares = dict(zip(others, map(Link, addresses, words), strict=False))
        shown |= {"svg": to_svg(replace(picture, links=squares)), "others": others}
    except PictureError as error:
        shown |= {"unseen": asked.site.told(error)}
    data |= {"movers": None, "uses": None}
    if asked.flag("movers"):
        found = asked.site.store.analysis().same_movers((), piece=piece, ruleset=str(ruleset.revision))
        movers = [record for group in found.groups for record in group.records()]
        data |= {"movers": movers[: asked.number("limit")], "movers_count": len(movers)}
    if asked.flag("uses"):
        data |= {"uses": [each.data() for each in analysis.uses(piece)]}
    return Answer(data, shown, fixed=asked.site.is_fixed(asked.reference, ruleset.revision) and not data["movers"])


def _told(pictures: tuple[Diagram, ...]) -> Iterator[tuple[str | None, str, dict[str, list[str]]]]:
    """The same in words: of each source, its address and the squares by what their marks mean."""
    for each in pictures:
        squares: dict[str, list[str]] = {}
        for mark in each.marks:
            words = "; ".join(MEANINGS[shape] for shape in shapes(mark))
            squares.setdefault(words, []).append("the hand" if mark.square == HAND else mark.square)
        yield each.source, f"#{each.anchor(str(each.source))}", squares


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
    shows_of=lambda asked, revision: (),
)
