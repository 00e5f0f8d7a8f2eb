"""`/picture/RULESET`: a small picture of the start position, or of another one."""

from __future__ import annotations

from ggn_store.errors import PictureError
from ggn_store.model.pictures.picture import Diagram, Poster
from ggn_store.render.diagrams import thumbnail, to_svg
from ggn_store.render.layout import require_drawable
from ggn_store.web.boards import read_position
from ggn_store.web.page import POSITION, STYLE, Answer, Asked, Page, Parameter


def _show(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    require_drawable(ruleset.board)
    text, piece = asked.text("position"), asked.text("piece")
    position = None if text is None else read_position(ruleset, text)
    shown = ruleset.pictures.picture(
        piece=piece, source=asked.text("source"), position=position, style=asked.text("style")
    )
    fixed = asked.site.is_fixed(asked.reference, ruleset.revision)
    if piece is not None:
        return Answer(text=to_svg(shown), media="image/svg+xml", fixed=fixed)
    if isinstance(shown, Poster):  # of a game without a start: its first piece
        if not shown.cards:
            raise PictureError(f"{ruleset.revision} has nothing to draw")
        shown = shown.cards[0]
    assert isinstance(shown, Diagram)  # noqa: S101  (what is left)
    return Answer(text=thumbnail(shown), media="image/svg+xml", fixed=fixed)


PAGE = Page(
    "picture",
    "/picture/{ruleset}",
    "A picture as SVG: the start, a position, or all that a piece can do from a square.",
    _show,
    parameters=(
        POSITION,
        Parameter("piece", "the moves of this piece"),
        Parameter("source", "from this square, or * for the hand", most=255),
        STYLE,
    ),
    media="image/svg+xml",
    shows_of=lambda asked, revision: (),
)
