"""Games that are played: a start, the moves made from it, how it stands, and what it is written as."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

from ggn_store.api.handle import AnyPosition
from ggn_store.api.moves import outcomes
from ggn_store.api.positions.json_text import decode
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import GgnStoreError, MoveError, NotationError, printable, quote
from ggn_store.games import library
from ggn_store.model.moves.chain import Chain, captures_first, path_of
from ggn_store.model.moves.counters import Counters
from ggn_store.model.moves.move import Assumption, Move
from ggn_store.model.moves.play import PREFERENCES, Play
from ggn_store.model.moves.position import Position
from ggn_store.model.moves.result import Result
from ggn_store.notation import pgn
from ggn_store.notation.move_text import OWN

MAX_MOVES: Final = pgn.MAX_MOVES
# How many moves a message names.
_OFFERED: Final = 8
_CHESS: Final = "chess"
# What a tag Variant says, folded, that names no variant.
_ANY_VARIANT: Final = ("", "standard", "normal", "fromposition")
MANDATORY_CAPTURE: Final = "mandatory-capture"
# Duties that forbid nothing.
_MECHANICAL: Final = ("clear-marks", "pass", "forced-pass")
_RECORD: Final = ("ruleset", "digest", "start", "counters", "moves", "result")


@dataclass(frozen=True, slots=True)
class Ply:
    """A move that was made, and the positions before and after it."""

    before: Position
    move: Move | Chain
    after: Position

    @property
    def places(self) -> tuple[str, ...]:
        """The path from the source to the destination."""
        return path_of(self.move)


@dataclass(frozen=True)
class Game:
    """A game from a start position on. It never changes: `play` and `undo` give another one.

    Moves are the legal ones, or all that the rules allow with `pseudo_legal`. With `captures_first` only captures may
    be made where there are any, also in games without that duty. `assume` is for must-deny documents, as in
    `Ruleset.moves`. If `unclaimed`, it goes on past draws by repetition and by plies without progress, as games that
    were played elsewhere do. `tags` are those of the PGN that it was read from; what they say of the result holds where
    the board does not.
    """

    ruleset: Ruleset
    start: Position
    plies: tuple[Ply, ...] = ()
    pseudo_legal: bool = False
    captures_first: bool = False
    assume: Assumption | None = None
    unclaimed: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, ruleset: Ruleset, position: AnyPosition | None = None, **options: Any) -> Self:
        """A game from a position, or from the ruleset's own start; the options are fields of `Game`."""
        return cls(ruleset, ruleset.handle.as_left(ruleset.start if position is None else position), **options)

    @property
    def position(self) -> Position:
        """The position that the game has come to."""
        return self.plies[-1].after if self.plies else self.start

    @property
    def history(self) -> tuple[Position, ...]:
        """The positions before that."""
        return tuple(ply.before for ply in self.plies)

    # --- what may be made ---

    @property
    def moves(self) -> list[Move]:
        """The moves that may be made; none where the game is over."""
        return [] if self.result.is_over else self._allowed[0]

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chains of moves that may be made together; none where the game is over."""
        return () if self.result.is_over else self._allowed[1]

    @functools.cached_property
    def every(self) -> tuple[list[Move], tuple[Chain, ...]]:
        """All moves and chains that the rules allow, legal or not."""
        return self.ruleset.moves(self.position, assume=self.assume), self.ruleset.chains(self.position)

    @functools.cached_property
    def _allowed(self) -> tuple[list[Move], tuple[Chain, ...]]:
        moves, chains = self.every
        if not self.pseudo_legal and self.ruleset.play.duties:
            moves = self.ruleset.legal_moves(self.position, assume=self.assume)
            chains = self.ruleset.chains(self.position, legal=True)
        return captures_first(self.position, moves, chains) if self.captures_first else (moves, chains)

    @property
    def is_captures_first(self) -> bool:
        """Whether only captures may be made where there are any."""
        is_duty = self.ruleset.play.duty(MANDATORY_CAPTURE) is not None
        return self.captures_first or (is_duty and not self.pseudo_legal)

    @property
    def _preferring(self) -> Play:
        """What is asked of captures beyond that they come first."""
        return Play() if self.pseudo_legal else self.ruleset.play

    def may_be_made(self, move: Move | Chain) -> bool:
        """Whether a move or a chain is one of those."""
        return move in (self.chains if isinstance(move, Chain) else self.moves)

    def why_not(self, move: Move | Chain) -> str:
        """Why a move that may not be made may not."""
        if self.result.is_over:
            return f"the game is over: {self.result}"
        moves, chains = self.every
        if move not in (chains if isinstance(move, Chain) else moves):
            return f"the position does not allow this move to {self.position.side}"
        for preferring in (Play(), self._preferring) if self.is_captures_first else ():
            if move not in itertools.chain(*captures_first(self.position, moves, chains, preferring)):
                preferred = [duty.name for duty in preferring.duties if duty.name in PREFERENCES]
                return f"another capture comes first: {', '.join(preferred)}" if preferred else "captures come first"
        after = self.ruleset.apply(self.position, move, assume=self.assume)
        if self.ruleset.in_check(after, self.position.side):
            return f"it leaves {self.position.side} in check"
        duties = (duty.name for duty in self.ruleset.play.duties if duty.name not in _MECHANICAL)
        return f"it is not legal by the duties of the game: {', '.join(duties)}"

    # --- how it stands ---

    @functools.cached_property
    def result(self) -> Result:
        """How the game stands by what the ruleset declares."""
        moves = self.ruleset.moves if self.pseudo_legal else None
        result = outcomes.judge(self.ruleset, self.position, self.history, moves)
        return Result(unjudged=result.unjudged) if self.unclaimed and result.is_claimed else result

    @property
    def score(self) -> str:
        """The result as PGN writes it; that of the tags where the board does not say that the game is over."""
        stated = self.tags.get("Result", "*")
        return stated if not self.result.is_over and stated in pgn.RESULTS else self.result.score

    @functools.cached_property
    def is_check(self) -> bool:
        """Whether the side to move is in check."""
        return self.ruleset.in_check(self.position)

    # --- to play ---

    def play(self, move: Move | Chain | str) -> Game:
        """The game after one move more; a text is read in all notations, as by `Ruleset.parse_move`.

        Raises MoveError for a move that may not be made, and where the game is over.
        """
        if self.result.is_over:
            raise MoveError(f"the game is over: {self.result}")
        if not isinstance(move, Move | Chain):
            move = self.meant(move)
        if not self.may_be_made(move):
            raise MoveError(f"{quote(' '.join(path_of(move)))}: {self.why_not(move)}")
        after = self.ruleset.apply(self.position, move, assume=self.assume)
        return self._gone_on((*self.plies, Ply(self.position, move, after)))

    def meant(self, text: str, notation: str | None = None) -> Move | Chain:
        """The move that a text means here in a notation, without one in any; of several, the one that may be made.

        Raises MoveError where it means none, or where several may be made.
        """
        is_pseudo = self.pseudo_legal or self.assume is not None
        found = self.ruleset.read_move(text, self.position, notation, pseudo=is_pseudo, assume=self.assume).moves
        allowed = [move for move in found if self.may_be_made(move)] or found[:1]
        if len(allowed) > 1:
            offered = (self.ruleset.move_text(move, self.position) for move in allowed[:_OFFERED])
            raise MoveError(f"{quote(text)} may mean {', '.join(map(printable, offered))}: say which")
        return allowed[0]

    def undo(self) -> Game:
        """The game without its last move; raises MoveError where none has been made."""
        if not self.plies:
            raise MoveError("nothing has been played")
        return self._gone_on(self.plies[:-1])

    def _gone_on(self, plies: tuple[Ply, ...]) -> Game:
        """The game with these plies, of which its tags do not say the result."""
        return replace(self, plies=plies, tags={name: value for name, value in self.tags.items() if name != "Result"})

    # --- as text ---

    def texts(self, notation: str = OWN) -> list[str]:
        """The moves in a notation (see `Ruleset.move_text`); in the own one, as `play` and `apply` read them."""
        return [self.ruleset.move_text(ply.move, ply.before, notation) for ply in self.plies]

    def pgn(self) -> str:
        """The game as PGN; raises MoveError where SAN cannot write its moves, PositionError where FEN cannot its start.

        A game that is not chess, and a start that is not the ruleset's own, are tags.
        """
        tags = dict(self.tags)
        if self.ruleset.name != _CHESS:
            tags.setdefault("Variant", self.ruleset.name)
        if not self._is_usual_start:
            tags |= {"SetUp": "1", "FEN": self.ruleset.fen(self.start)}
        counters = self.start.counters or Counters()
        return pgn.text(tags, self.texts("san"), self.score, counters.number, self.start.side == "second")

    @property
    def _is_usual_start(self) -> bool:
        if not self.ruleset.has_start:
            return False
        usual = self.ruleset.start
        is_same = self.ruleset.handle.as_left(self.start) == self.ruleset.handle.as_left(usual)
        return is_same and self.start.counters in (None, usual.counters)

    def record(self) -> dict[str, Any]:
        """The game as JSON data, which any game can be: its ruleset, start, moves and result."""
        start, counters = self.start, self.start.counters
        return {
            "ruleset": str(self.ruleset.revision),
            "digest": self.ruleset.revision.digest,
            "start": start.data(),
            **({} if counters is None else {"counters": counters.data()}),
            "moves": [dict(self._written(ply)) for ply in self.plies],
            "result": self.result.data(),
        }

    def _written(self, ply: Ply) -> Iterator[tuple[str, str]]:
        yield "move", self.ruleset.move_text(ply.move, ply.before)
        with contextlib.suppress(MoveError):
            yield "uci", self.ruleset.move_text(ply.move, ply.before, "uci")

    def read(self, text: str, is_record: bool = False) -> Game:
        """The game of this ruleset that a text writes, as PGN or as a JSON record, from its own start.

        A PGN that names no start is from this game's. Raises MoveError and PositionError where it is none, with the
        line or the number of the move.
        """
        if not isinstance(text, str):
            raise MoveError(f"{quote(text)} is not the text of a game, in PGN or JSON")
        text = text.removeprefix("\ufeff")
        return self._of_record(text) if is_record or pgn.looks_like_json(text) else self._of_pgn(text)

    def _of_pgn(self, text: str) -> Game:
        try:
            read = pgn.parse(text)
        except NotationError as error:
            raise MoveError(str(error)) from None
        self._require_variant(read.tags.get("Variant", ""))
        start = self.start
        if "FEN" in read.tags:
            start = self.ruleset.handle.as_left(self.ruleset.position(fen=read.tags["FEN"]))
        game = replace(self, start=start, plies=(), unclaimed=True)
        for move, line in read.moves:
            game = _next(game, f"line {line}", move, "san")
        return replace(game, unclaimed=self.unclaimed, tags={**read.tags, "Result": read.result})

    def _require_variant(self, variant: str) -> None:
        """Raise MoveError for the PGN of another game, by any name that this one has in the library."""
        revision = self.ruleset.revision
        game = library.index().get(revision.name)
        called = [revision.name, revision.envelope.title or "", *(game.also if game else ())]
        if _folded(variant) not in (*_ANY_VARIANT, *map(_folded, called)):
            raise MoveError(
                f"the tag Variant says that this is a game of {quote(variant)}, not of {revision.name}: play it with "
                "that ruleset, or take the tag out"
            )

    def _require_own(self, data: Mapping[str, Any]) -> None:
        """Raise MoveError for the record of a game of another ruleset; a revision of this one may play it."""
        revision = self.ruleset.revision
        name, digest = (data.get(key, own) for key, own in (("ruleset", revision.name), ("digest", revision.digest)))
        if not (isinstance(name, str) and isinstance(digest, str)):
            raise MoveError(f"the ruleset and the digest of a record are text, not {quote([name, digest])}")
        names = {re.split("[@#]", each)[0] for each in (name, revision.name)}
        if len(names) > 1 and ("digest" not in data or digest != revision.digest):
            raise MoveError(f"this is a game of {quote(name)}, not of {revision.name}: play it with that ruleset")

    def _of_record(self, text: str) -> Game:
        data = decode(text, "this is no record of a game")
        if not isinstance(data, dict) or not {"start", "moves"} <= data.keys() <= set(_RECORD):
            raise MoveError(f"a record of a game has the keys {', '.join(_RECORD)}")
        self._require_own(data)
        moves = data["moves"]
        if not isinstance(moves, list) or len(moves) > MAX_MOVES:
            raise MoveError(f"the moves of a game are a list of at most {MAX_MOVES:,}")
        counters = Counters.from_data(data["counters"]) if "counters" in data else None
        start = self.ruleset.handle.as_left(replace(Position.from_data(data["start"]), counters=counters))
        game = replace(self, start=start, plies=(), unclaimed=True, tags={})
        for number, move in enumerate(moves, 1):
            written = move.get("move") if isinstance(move, dict) else move
            if not isinstance(written, str):
                raise MoveError(f"move {number}: {quote(move)} names no move")
            game = _next(game, f"move {number}", written, OWN)
            if isinstance(move, dict):
                _require_same(game, move, f"move {number}")
        game = replace(game, unclaimed=self.unclaimed)
        if "result" in data and data.get("digest") in (None, self.ruleset.revision.digest):
            _require_result(game, data["result"])
        return game


def _require_same(game: Game, written: Mapping[str, Any], where: str) -> None:
    """Raise MoveError where a record says more of the last move than that it is this one, or another one in UCI."""
    if not written.keys() <= {"move", "uci"}:
        raise MoveError(f"{where}: {quote(dict(written))} has other keys than move and uci")
    uci = written.get("uci", "")
    if uci == "":
        return
    try:
        read = game.ruleset.read_move(uci, game.plies[-1].before, "uci", pseudo=True, assume=game.assume)
        is_same = game.plies[-1].move in read.moves
    except (GgnStoreError, TypeError):
        is_same = False
    if not is_same:
        raise MoveError(f"{where}: {quote(written['move'])} and the uci beside it, {quote(uci)}, are not the same move")


def _require_result(game: Game, stated: object) -> None:
    """Raise MoveError where a record, of this revision, has another result than its moves, claimed or not."""
    possible = [replace(game, unclaimed=each).result for each in (False, True)]
    keys = ("is_over", "winner", "score")
    for told in (each.data() for each in possible):
        if isinstance(stated, dict) and all(stated.get(key, told[key]) == told[key] for key in keys):
            return
    result = possible[0]
    raise MoveError(f"the result of the record, {quote(stated)}, is not that of its moves: {result} ({result.score})")


def _folded(name: str) -> str:
    """A name without what programs write differently: Three-check is 3check's title, Three-check chess."""
    letters = "".join(filter(str.isalnum, name.casefold()))
    return letters.removesuffix(_CHESS) or letters


def _read(game: Game, text: str, notation: str) -> Move | Chain:
    """What a text of a record means; where SAN is due, programs write other notations, too, such as UCI."""
    try:
        return game.meant(text, notation)
    except GgnStoreError:
        if notation == "san":
            with contextlib.suppress(GgnStoreError):
                return game.meant(text)
        raise


def _next(game: Game, where: str, text: str, notation: str) -> Game:
    try:
        if game.result.is_over:
            raise MoveError(f"the game is over: {game.result}")
        return game.play(_read(game, text, notation))
    except GgnStoreError as error:
        raise MoveError(f"{where}: {error}") from None
