"""A ruleset as an engine that speaks UCI or USI: lines in, lines out, without input or output of its own.

A line that cannot be carried out is answered by `info string`, and changes nothing; what is no command is ignored, as
the protocols ask for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ggn_store.api.moves import move_notations, outcomes
from ggn_store.api.play.game import Game, Ply
from ggn_store.api.positions.notations import NOTATIONS
from ggn_store.api.ruleset import Ruleset
from ggn_store.errors import GgnStoreError, MoveError, PositionError, offer, printable, quote
from ggn_store.model.moves.chain import Chain
from ggn_store.model.moves.move import Move
from ggn_store.model.moves.position import Position
from ggn_store.notation import qpi
from ggn_store.notation.qpi import Side, side_of

CHOICES: Final = ("random", "greedy")
_MOST_SEED: Final = 2**31 - 1
# Of a royal piece, where one can be taken at all.
_ROYAL: Final = 1_000.0
_WON: Final = 1_000_000.0
_START: Final = ("startpos",)


@dataclass(frozen=True, slots=True)
class EngineProtocol:
    """What differs between UCI and USI; `name` is the notation of moves, too, and `position` that of positions.

    `unsolved` answers `go mate`, where that asks for a solution and not for a move.
    """

    name: str
    position: str
    without_moves: str
    unsolved: str = ""


PROTOCOLS: Final = {
    "uci": EngineProtocol("uci", "fen", "(none)"),
    "usi": EngineProtocol("usi", "sfen", "resign", "checkmate notimplemented"),
}


class Engine:
    """A conversation with a program that plays: `answer` each line until `is_over`.

    It moves at random, or (`greedy`) so that most is on the board for its side after its move, ends of the game first.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        protocol: str = "uci",
        choice: str = CHOICES[0],
        seed: int | None = None,
        variant: str | None = None,
    ) -> None:
        if ruleset.dialect == "must-deny":
            raise MoveError(
                f"{ruleset.revision} is a must-deny document and does not say what a move changes: no game can be "
                "played by it; load it in a dialect with effects"
            )
        move_notations.require_squares(ruleset.handle, protocol)
        self.is_over = False
        self._ruleset = ruleset
        self._protocol = PROTOCOLS[protocol]
        self._choice = choice
        self._chance = _chance(seed)
        definition = ruleset.definition
        # To UCI chess960 is chess, in which an option says how castling is written.
        self._is_960 = definition is not None and definition.castles_anywhere
        self._variant = variant or (ruleset.name.removesuffix("960") if self._is_960 else ruleset.name)
        self._root: tuple[str, ...] = _START
        self._texts: list[str] = []
        self._begun: Game | None = None
        self._held: str | None = None

    def answer(self, line: str) -> Iterator[str]:
        """The lines that answer one line; those of a long search come when they are known."""
        words = line.split()
        while words and words[0] not in self._commands:
            words.pop(0)
        if not words:
            return
        try:
            yield from self._commands[words[0]](words[1:])
        except GgnStoreError as error:
            yield _info(str(error))

    @cached_property
    def _commands(self) -> Mapping[str, Callable[[list[str]], Iterator[str]]]:
        name = self._protocol.name
        return {
            name: self._handshake,
            "isready": lambda _: iter(["readyok"]),
            f"{name}newgame": self._new_game,
            "setoption": self._set_option,
            "position": self._place,
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._stop,
            "d": self._show,
            "quit": self._quit,
        }

    # --- what it is ---

    def _handshake(self, words: list[str]) -> Iterator[str]:
        revision = self._ruleset.revision
        yield f"id name ggn_store {printable(str(revision))}"
        yield "id author ggn_store"
        yield f"option name Choice type combo default {self._choice} {' '.join(f'var {each}' for each in CHOICES)}"
        yield f"option name Seed type spin default 0 min 0 max {_MOST_SEED}"
        if self._protocol.name == "uci":
            yield f"option name UCI_Variant type combo default {self._variant} var {self._variant}"
            if self._is_960:
                yield "option name UCI_Chess960 type check default true"
        yield f"{self._protocol.name}ok"

    def _set_option(self, words: list[str]) -> Iterator[str]:
        text = " ".join(words)
        name, _, value = text.removeprefix("name ").partition(" value ")
        told = value.casefold()  # to UCI, neither names nor values have a case
        match name.casefold():
            case "choice" if told in CHOICES:
                self._choice = told
            case "seed" if value.isascii() and value.isdecimal() and int(value[:11]) <= _MOST_SEED:
                self._chance = _chance(int(value) or None)
            case "choice" | "seed":
                allowed = offer(CHOICES) if name.casefold() == "choice" else f"a whole number up to {_MOST_SEED}"
                yield _info(f"{quote(value)} is no value of {name}: {allowed}")
            case "uci_variant" if told != self._variant.casefold():
                yield _info(f"this is {self._variant}, and plays no {quote(value)}")
            case "uci_chess960" if self._is_960 != (told == "true"):
                yield _info("a castling king takes its rook here" if self._is_960 else "this is no chess960")

    def _new_game(self, words: list[str]) -> Iterator[str]:
        self._root, self._texts, self._begun = _START, [], None
        yield from ()

    # --- positions ---

    def _place(self, words: list[str]) -> Iterator[str]:
        at = words.index("moves") if "moves" in words else len(words)
        self._go_to(tuple(words[:at]), words[at + 1 :])
        yield from ()

    @property
    def _game(self) -> Game:
        """The game so far; only a question about it needs a start."""
        if self._begun is None:
            self._begun = self._placed(self._root)
        return self._begun

    def _go_to(self, root: tuple[str, ...], texts: Sequence[str]) -> None:
        """Make these moves from a root on, which mostly begin as before; raises MoveError for one that is not legal."""
        same, game = 0, None
        if self._root == root and self._begun is not None:
            while same < min(len(texts), len(self._texts)) and texts[same] == self._texts[same]:
                same += 1
            game = replace(self._begun, plies=self._begun.plies[:same])
        game = game or self._placed(root)
        for number, text in enumerate(texts[same:], same + 1):
            position = game.position
            try:
                move = self._ruleset.parse_move(text, position, self._protocol.name)
            except GgnStoreError as error:
                raise MoveError(f"illegal move, number {number}: {error}") from None
            # Also where the game is over, of which the other side may know nothing.
            game = replace(game, plies=(*game.plies, Ply(position, move, self._ruleset.apply(position, move))))
        self._root, self._texts, self._begun = root, [*texts], game

    def _placed(self, root: Sequence[str]) -> Game:
        word, *fields = root or ("",)
        if word == "startpos" and not fields:
            return Game.begin(self._ruleset, self._ruleset.start)
        if word in NOTATIONS and fields:
            return Game.begin(self._ruleset, self._ruleset.position(**{word: " ".join(fields)}))
        known = offer(["startpos", *(f"{name} TEXT" for name in NOTATIONS)])
        raise PositionError(f"position {quote(' '.join(root))} is none of {known}")

    def _name(self, move: Move | Chain) -> str:
        return self._ruleset.move_text(move, self._game.position, self._protocol.name)

    def _moves(self) -> list[Move | Chain]:
        return outcomes.turns(self._ruleset, self._game.position)

    def _show(self, words: list[str]) -> Iterator[str]:
        position = self._game.position
        yield from self._ruleset.text(position).splitlines()
        for notation in (self._protocol.position, "feen"):
            try:
                yield f"{notation.capitalize()}: {self._ruleset.notate(position, notation)}"
                break
            except PositionError:
                continue
        yield f"Result: {self._game.result}"
        yield f"Legal moves: {' '.join(map(self._name, self._moves())) or '(none)'}"

    # --- moves ---

    def _go(self, words: list[str]) -> Iterator[str]:
        yield from self._stop([])  # a search that has not been told to end ends by the next one
        if words[:1] == ["perft"]:
            yield from self._perft(words[1:])
            return
        if words[:1] == ["mate"] and self._protocol.unsolved:
            yield self._protocol.unsolved
            return
        moves, result = self._moves(), self._game.result
        if result.is_over:
            yield _info(f"the game is over: {result}")
        if "searchmoves" in words[:-1]:
            wanted = words[words.index("searchmoves") + 1 :]
            moves = [move for move in moves if self._name(move) in wanted]
        best = self._protocol.without_moves
        if moves:
            chosen, value = self._chosen(moves)
            best = self._name(chosen)
            yield f"info depth 1{value} nodes {len(moves)} pv {best}"
        if "infinite" in words or "ponder" in words:
            self._held = best
        else:
            yield f"bestmove {best}"

    def _stop(self, words: list[str]) -> Iterator[str]:
        if self._held is not None:
            held, self._held = self._held, None
            yield f"bestmove {held}"

    def _quit(self, words: list[str]) -> Iterator[str]:
        self.is_over = True
        yield from ()

    def _perft(self, words: list[str]) -> Iterator[str]:
        depth = words[0] if words else "1"
        if not (depth.isascii() and depth.isdecimal() and 0 < len(depth) <= 3 and int(depth)):
            raise MoveError(f"go perft {quote(depth)}: write a number of moves from 1 on")
        position = self._game.position
        found = self._ruleset.perft(position, int(depth), divide=True, legal=True, stop_at_end=True).by_move or ()
        for move, count in found:
            yield f"{self._name(move)}: {count}"
        yield ""
        yield f"Nodes searched: {sum(count for _, count in found)}"

    def _chosen(self, moves: Sequence[Move | Chain]) -> tuple[Move | Chain, str]:
        """A move, and what is said of its value."""
        if self._choice == "random":
            return self._chance.choice(moves), ""
        position = self._game.position
        side = position.side
        values = [self._value(self._ruleset.apply(position, move), side) for move in moves]
        best = max(values)
        chosen = self._chance.choice([move for move, value in zip(moves, values, strict=True) if value == best])
        return chosen, " score mate 1" if best >= _WON else f" score cp {round(100 * best)}"

    def _value(self, after: Position, side: Side) -> float:
        """How much more a side has in a position, counted in the moves that pieces have on average, or a won game."""
        if outcomes.judge(self._ruleset, after, [*self._game.history, self._game.position]).winner == side:
            return _WON
        held = [*after.board.values(), *(piece for piece, count in (after.hands or {}).items() for _ in range(count))]
        return sum(
            self._values.get(piece, 0.0) * (1 if side_of(piece) == side else -1) for piece in held if piece is not None
        )

    @cached_property
    def _values(self) -> Mapping[str, float]:
        """For each piece, how many possibilities it has from a square; a lone step of a pawn is about one."""
        return {
            row["piece"]: _ROYAL
            if qpi.is_royal(row["piece"])
            else (row["possibilities"] or 0) / (2 * (row["sources"] or 1))
            for row in self._ruleset.piece_summaries()
        }


def _chance(seed: int | None) -> random.Random:
    return random.Random(seed)  # noqa: S311 - nothing is to be kept secret


def _info(text: str) -> str:
    return f"info string {' '.join(map(printable, text.split()))}"
