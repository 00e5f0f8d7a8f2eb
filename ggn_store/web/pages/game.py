"""`/g/RULESET`: a board to click: a piece shows its marks, a mark makes the move, and each move can be taken back.

What was played is in the address, move by move: nothing is kept here, and a link is a game.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final

from ggn_store.api.moves.styles import style_of
from ggn_store.api.play.game import Game
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import MoveError, PictureError, counted
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.model.moves.move import DISPLACEMENT, Assumption, Move
from ggn_store.model.moves.play import HOST_DUTIES
from ggn_store.model.pictures.marks import Mark, marks_of_moves
from ggn_store.model.pictures.picture import Diagram, Link
from ggn_store.model.teams.revision import Revision, is_proposal
from ggn_store.model.teams.tag import Tag
from ggn_store.notation import qpi
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import OWN
from ggn_store.render.diagrams import to_svg
from ggn_store.render.layout import require_drawable
from ggn_store.render.moves import path_text
from ggn_store.render.outcomes import duty_text, outcome_text
from ggn_store.web import links
from ggn_store.web.boards import JSON, called, names_of, read_position, written
from ggn_store.web.page import POSITION, STYLE, Answer, Asked, Page, Parameter
from ggn_store.web.pages.source import lines_of, source_of
from ggn_store.web.site import Site, lasting

_MOST: Final = 400  # moves of a game in an address
_SHOWN: Final = 400  # lines of a definition
_LISTED: Final = 2_000  # moves in JSON
MadeMove = Move | Chain


@dataclass(frozen=True, slots=True)
class ShownGame:
    """A game as it is shown: what was played, how the board lies, and which piece is touched."""

    reference: str
    game: Game
    words: tuple[str, ...]
    position: str | None
    moves: tuple[str, ...]
    piece: str | None
    source: str | None
    to: str | None
    is_flipped: bool
    style: str | None
    is_file: bool

    def link(self, moves: tuple[str, ...] | None = None, at: str = "board", /, **changed: links.Value) -> str:
        """The address of this page, with other moves, another piece touched, or whatever else is changed.

        It leads to a part of the page, where who uses a keyboard goes on.
        """
        shown: dict[str, links.Value] = {
            "position": self.position,
            "m": self.moves if moves is None else moves,
            "flip": self.is_flipped,
            "style": self.style,
            "pseudo": self.game.pseudo_legal,
            "assume": self.game.assume,
        }
        return f"{links.to('/g', self.reference, **{**shown, **changed})}#{at}"

    def made(self, move: MadeMove) -> str | None:
        """The address after a move; None where it cannot be made, or written: squares may have any names."""
        has_effects = isinstance(move, Chain) or move.has_effects
        if not has_effects or any(place != " ".join(place.split()) for place in path_of(move)):
            return None
        text = self.game.ruleset.move_text(move, self.game.position)
        return self.link((*self.moves, text))

    def touched(self, source: str, piece: str) -> str:
        """The address with a piece touched."""
        return self.link(**{"from": source, "piece": piece if source == HAND else None})


def _show(asked: Asked) -> Answer:
    ruleset = asked.site.ruleset(asked.reference)
    text = asked.text("position")
    if text is None and not ruleset.has_start:
        return _without_start(asked, ruleset)
    table = ShownGame(
        asked.reference,
        *_played(asked.site, ruleset, asked),
        text,
        asked.texts("m"),
        asked.text("piece"),
        asked.text("from"),
        asked.text("to"),
        asked.flag("flip"),
        asked.text("style"),
        asked.is_file,
    )
    ruleset.handle.require_place(table.piece, table.source, table.to)
    game = table.game
    possible: list[MadeMove] = [*game.moves, *game.chains]
    chosen = [move for move in possible if _is_touched(table, move)]
    told = [*_told(table, chosen)]
    explained = ruleset.explain([game.position], legal=not game.pseudo_legal) if asked.flag("explain") else None
    notations = written(ruleset, game.position)
    data = _data(table, possible, notations) | ({"moves": _listed(table, possible)} if asked.is_json else {})
    if explained is not None:
        data |= {"sql": explained[0], "plan": explained[1]}
    names = names_of(ruleset)
    shown = _about(asked, ruleset) | {
        "table": table,
        "game": game,
        "board": _picture(table, possible, _marks(table, chosen), told, names),
        "chosen": told,
        "pieces_to_move": [
            {"address": table.touched(source, piece), "words": called(piece, source, names), "count": count}
            for (source, piece), count in _counted(possible).items()
        ],
        # Each move that was played, with the address of the game as it was after it.
        "plies": [{"text": text, "address": table.link(table.moves[:n])} for n, text in enumerate(table.words, 1)],
        "notations": notations,
        "permalink": links.to("/g", lasting(ruleset.revision), position=next(iter(notations.values()))),
        "explained": explained,
        "has_figures": style_of(ruleset.handle).pieces != "letters",
        "touched": None if table.source is None else _touched(table, names),
        "needs_effects": any(isinstance(each, Move) and not each.has_effects for each in possible),
    }
    return Answer(data, shown, fixed=asked.site.is_fixed(asked.reference, ruleset.revision))


def _without_start(asked: Asked, ruleset: Ruleset) -> Answer:
    data = {"revision": ruleset.revision.data(), "position": None, "pieces": [*ruleset.pieces]}
    return Answer(data, _about(asked, ruleset) | {"table": None}, fixed=False)


# --- what was played ---


def _played(site: Site, ruleset: Ruleset, asked: Asked) -> tuple[Game, tuple[str, ...]]:
    """The game that an address says, and its moves in words; a move more than one seen before is played from there."""
    text, assume = asked.text("position"), asked.text("assume")
    revision = ruleset.revision
    rules: dict[str, Any] = {"pseudo_legal": asked.flag("pseudo"), "assume": assume}

    def begun() -> tuple[Game, tuple[str, ...]]:
        return Game.begin(ruleset, None if text is None else read_position(ruleset, text), **rules), ()

    key: tuple[Any, ...] = (revision.name, revision.lineage, text, *rules.values())
    game, words = site.games.get(key, begun)
    for move in asked.texts("m"):
        key = (*key, move)
        game, words = site.games.get(key, functools.partial(_next, game, words, move))
    return game, words


def _next(game: Game, words: tuple[str, ...], text: str) -> tuple[Game, tuple[str, ...]]:
    """The game after a move as `move_text` writes it, and its moves in words."""
    try:
        made = game.meant(text, OWN)
        return game.play(made), (*words, _in_words(game, made, text))
    except MoveError as error:
        raise MoveError(f"move {len(words) + 1}: {error}") from None


def _in_words(game: Game, move: MadeMove, text: str) -> str:
    """A move as players write it, where that can be said; else by its places."""
    try:
        return game.ruleset.move_text(move, game.position, "san")
    except MoveError:
        return text


# --- what may be played ---


def _is_touched(table: ShownGame, move: MadeMove) -> bool:
    """Whether a move is one of the piece that is touched."""
    places = path_of(move)
    return (
        places[0] == table.source
        and table.piece in (None, move.piece)
        and table.to in (None, places[-1], *(places[1:] if isinstance(move, Chain) else ()))
    )


def _marks(table: ShownGame, moves: Iterable[MadeMove]) -> tuple[Mark, ...]:
    """The marks of moves; of a chain that of its first step."""
    steps = (move.steps[0] if isinstance(move, Chain) else move for move in moves)
    once = {(step.piece, step.source, step.destination, step.ordinal): step for step in steps}
    return marks_of_moves(once.values(), table.game.position.board)


def _told(table: ShownGame, chosen: list[MadeMove]) -> Iterator[dict[str, Any]]:
    """The moves of the piece that is touched: what each is called, its words, and where it leads."""
    for move in chosen:
        yield {
            "text": path_text(move),
            "square": path_of(move)[1],  # where it is clicked: of a chain that of its first step
            "words": _words(table, move),
            "address": table.made(move),
        }


def _words(table: ShownGame, move: MadeMove) -> str:
    """The words of one move by itself."""
    if isinstance(move, Chain):
        return f"{len(move.steps)} steps"
    return marks_of_moves([move], table.game.position.board)[0].words


def _counted(possible: list[MadeMove]) -> Counter[tuple[str, str]]:
    """How many moves there are from each place with each piece."""
    return Counter((path_of(move)[0], move.piece) for move in possible)


def _touched(table: ShownGame, names: Mapping[str, str]) -> str:
    source = str(table.source)
    piece = table.piece or table.game.position.board.get(source)
    return f"nothing on {source}" if piece is None else called(piece, source, names)


# --- the board ---


def _picture(
    table: ShownGame,
    possible: list[MadeMove],
    marks: tuple[Mark, ...],
    told: list[dict[str, Any]],
    names: Mapping[str, str],
) -> str | None:
    """The board with links; None where it is too large to be drawn."""
    game = table.game
    try:
        require_drawable(game.ruleset.board)
        shown = game.ruleset.pictures.picture(position=game.position, style=table.style)
    except PictureError:
        return None
    assert isinstance(shown, Diagram)  # noqa: S101  (of a position)
    squares, held = _links(table, possible, told, names)
    last = game.plies[-1].places if game.plies else ()
    source = table.source if table.source == HAND or table.source in game.position.board else None
    return to_svg(
        replace(
            shown,
            piece=table.piece,
            source=source,
            marks=marks,
            links=squares,
            hand_links=held,
            last=tuple(square for square in last if square != HAND),
            is_flipped=table.is_flipped,
        )
    )


def _links(
    table: ShownGame, possible: list[MadeMove], told: list[dict[str, Any]], names: Mapping[str, str]
) -> tuple[dict[str, Link], dict[str, Link]]:
    """Where clicks on squares and on pieces in the hand lead: marks make moves, pieces of who is to move are touched.

    Of those in the hand, and of files, which have a page for each click, only pieces that can move are.
    """
    board = table.game.position.board
    squares: dict[str, Link] = {}
    held: dict[str, Link] = {}
    of = _counted(possible)
    if not table.is_file and not table.game.result.is_over:
        side = table.game.position.side
        own = ((square, piece) for square, piece in board.items() if piece and qpi.side_of(piece) == side)
        of.update(dict.fromkeys(own, 0))
    for (source, piece), count in of.items():
        words = f"{called(piece, source, names)}, {counted(count, 'move') if count else 'cannot move'}"
        is_touched = source == table.source and table.piece in (None, piece)
        address = table.link() if is_touched else table.touched(source, piece)
        link = Link(address, f"{words}, chosen" if is_touched else words)
        (held if source == HAND else squares)[piece if source == HAND else source] = link
    by_square = itertools.groupby(sorted(told, key=itemgetter("square")), key=itemgetter("square"))
    for square, moves in ((square, [*moves]) for square, moves in by_square):
        if square == HAND or square == table.source:
            continue
        there = board.get(square)
        words = f"{square}{f', where {called(there, square, names)} stands' if there else ''}"
        if len(moves) > 1:
            address = table.link(None, "moves", **{"from": table.source, "piece": table.piece, "to": square})
            squares[square] = Link(address, f"to {words}: {len(moves)} ways, choose one below")
        elif moves[0]["address"] is not None:
            squares[square] = Link(moves[0]["address"], f"to {words}: {moves[0]['words']}")
    return squares, held


# --- about the game ---


def _data(table: ShownGame, possible: list[MadeMove], notations: Mapping[str, str]) -> dict[str, Any]:
    game = table.game
    return {
        "revision": game.ruleset.revision.data(),
        "position": game.position.data(),
        "notations": {name: text for name, text in notations.items() if name != JSON},
        "history": [*table.moves],
        "legal": not game.pseudo_legal,
        "count": len(possible),
        "check": game.is_check,
        "outcome": game.result.data(),
    }


def _listed(table: ShownGame, possible: list[MadeMove]) -> list[dict[str, Any]]:
    game = table.game
    return [{"text": game.ruleset.move_text(move, game.position)} | move.data() for move in possible[:_LISTED]]


def _about(asked: Asked, ruleset: Ruleset) -> dict[str, Any]:
    """What a revision is: where it comes from, its pieces, how it is played, and its definition."""
    revision = ruleset.revision
    tags, state = _standing(asked, revision)
    # Of files, each click is one.
    is_click = asked.is_file and asked.text("from") is not None
    source = None if is_click else source_of(ruleset)
    lines = [] if source is None else lines_of(ruleset, source, asked.reference)
    play, names = ruleset.play, names_of(ruleset)
    return {
        "ruleset": ruleset,
        "revision_": revision,
        "lasting": lasting(revision),
        "tags": tags,
        "state": state,
        "names": names,
        "is_click": is_click,
        "summaries": ruleset.piece_summaries(),
        "duties": [duty_text(each, names) for each in play.duties],
        "ends": [outcome_text(each, names) for each in play.outcomes],
        "host": [(name, HOST_DUTIES[name]) for name in play.host],
        "lines": lines[:_SHOWN],
        "more_lines": max(0, len(lines) - _SHOWN),
        "title": revision.envelope.title or revision.name,
    }


def _standing(asked: Asked, revision: Revision) -> tuple[tuple[Tag, ...], str | None]:
    """The tags of a ruleset, and a word on its state where it is not active; of what never changes, neither."""
    if asked.site.is_fixed(asked.reference, revision) or is_proposal(revision.name):
        return (), None
    store = asked.site.store
    state = None if revision.state == "active" else store.states.get(revision.name).note
    return store.tags.list(revision.name), state


def _shown(asked: Asked, revision: Revision) -> Hashable:
    return None if asked.flag("explain") else _standing(asked, revision)  # a plan may be another one any time


_ASSUME: Final[tuple[Assumption, ...]] = (DISPLACEMENT,)
PAGE = Page(
    "game",
    "/g/{ruleset}",
    "A game: its board, the moves of a position, what was played, and how it is defined.",
    _show,
    "game.html",
    (
        POSITION,
        Parameter("m", "a move that was played from there, as its link writes it; repeatable", several=_MOST),
        Parameter("from", "the square of the piece that is touched, * for the hand", most=255),
        Parameter("piece", "which piece of the hand"),
        Parameter("to", "the moves to this square only", most=255),
        Parameter("flip", "the board as the second side sees it", "flag"),
        STYLE,
        Parameter("pseudo", "moves that the duties of the game forbid, too", "flag"),
        Parameter("assume", "displacement: what moves change of a document that does not say it", choices=_ASSUME),
        Parameter("explain", "the SQL that finds the moves, and its plan", "flag"),
    ),
    shows_of=_shown,
)
