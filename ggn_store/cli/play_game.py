"""A game as `ggn-store play` plays it: what is typed, line by line, and what there is to say to it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import ggn_store
from ggn_store.errors import printable
from ggn_store.model.chain import Chain, captures_first
from ggn_store.model.move import Assumption
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import MoveNotation, MoveText, is_named
from ggn_store.notation.qpi import side_of
from ggn_store.render.moves import HOST_RULE, chains_text, moves_text, path_text, place_text
from ggn_store.render.records import compact

HELP: Final = """\
e2 e4     move; also E2 E4, e2e4, and C:P e2 e4 as `apply` writes it
e7 e8 2   the second of several possibilities; e7e8q: the one that makes a q of it
P* e5     put a P from the hand on e5; also * e5 P
d3 f5 h7  several moves of one piece that the rules let be made together
e2        what may move from e2, and P* (or *) what from the hand
moves     all moves of the side to move
undo      take the last move back
save FILE write the moves to a file, which --moves reads
quit      leave; also Ctrl-D
An empty line draws the board again. What follows # is a remark."""
_REMARK: Final = re.compile(r"(?:^|\s)#")


@dataclass(frozen=True, slots=True)
class Choice:
    """A move or a chain that can be chosen, its number among those along its path, and the position after it."""

    move: ggn_store.Move | Chain
    number: int
    after: ggn_store.Position

    @property
    def places(self) -> tuple[str, ...]:
        """The path from its source to its destination."""
        move = self.move
        return move.path if isinstance(move, Chain) else (move.source, move.destination)

    @property
    def becomes(self) -> str | None:
        """What stands at the end of the path."""
        return self.after.board.get(self.places[-1])

    def text(self) -> str:
        """The move with all that it changes."""
        return path_text(self.move)

    def conditions(self) -> str:
        """What distinguishes the choice from others of the same text."""
        steps = self.move.steps if isinstance(self.move, Chain) else (self.move,)
        return " ".join(compact({"must": dict(step.must), "deny": dict(step.deny)}) for step in steps)


@dataclass(frozen=True, slots=True)
class Played:
    """A move that was made: the position before it, and how it is written for reading it again."""

    before: ggn_store.Position
    choice: Choice
    written: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What there is to say to a line, whether the position is another one now, and whether that was the last line."""

    text: str = ""
    draw: bool = False
    ends: bool = False


class Play:
    """A game from a position on, played by lines of text; the moves are those that the store answers."""

    def __init__(
        self,
        ruleset: ggn_store.Ruleset,
        position: ggn_store.Position,
        assume: Assumption | None = None,
        captures_first: bool = False,
    ) -> None:
        if ruleset.dialect == "must-deny" and assume is None:
            raise ggn_store.MoveError(
                f"{ruleset.revision} is a must-deny document and does not say what a move changes: "
                "to mean plain displacement, say --assume displacement"
            )
        self.ruleset = ruleset
        self.start = self.position = position
        self.played: list[Played] = []
        self.pending: tuple[Choice, ...] = ()
        self._assume = assume
        self._captures_first = captures_first
        self._notation = MoveNotation(ruleset.board.squares)
        self._saved: str | None = None
        self._allowed: tuple[list[ggn_store.Move], tuple[Chain, ...] | None] | None = None

    @property
    def moves(self) -> list[ggn_store.Move]:
        """The moves of the position; with captures first, those that may be made."""
        return self._known()[0]

    @property
    def chains(self) -> tuple[Chain, ...]:
        """The chains of the position; with captures first, those that may be made."""
        moves, chains = self._known()
        if chains is None:
            chains = self.ruleset.chains(self.position)
            self._allowed = moves, chains
        return chains

    def _known(self) -> tuple[list[ggn_store.Move], tuple[Chain, ...] | None]:
        """The moves, and the chains if they are known."""
        if self._allowed is None:
            moves = self.ruleset.moves(self.position, assume=self._assume)
            self._allowed = moves, None
            if self._captures_first:
                self._allowed = captures_first(self.position, moves, self.ruleset.chains(self.position))
        return self._allowed

    def answers(self, line: str) -> bool:
        """Whether a line may follow the question which of several possibilities is meant: a number, or nothing."""
        line = _said(line)
        return not line or (line.isdecimal() and line.isascii())

    def enter(self, line: str) -> Reply:
        """Carry out a line; raises MoveError if it is neither a move nor a command."""
        pending, self.pending = self.pending, ()
        line = _said(line)
        if not line:
            self.pending = pending
            return Reply(draw=True)
        if pending and self.answers(line):
            return self._play(_numbered(pending, int(line[:9]), line))
        word, _, rest = line.partition(" ")
        word = word.casefold()
        if word == "save" and rest.strip():
            return self._save(rest.strip())
        if rest == "" and self._notation.square(line) is None:
            match word:
                case "moves":
                    return Reply(self._all_moves())
                case "undo":
                    return self._undo()
                case "help" | "?":
                    return Reply(HELP)
                case "quit" | "exit" | "\\q":
                    return Reply(ends=True)
                case "save":
                    raise ggn_store.MoveError("save FILE: name the file")
        return self._move(line)

    def _move(self, line: str) -> Reply:
        try:
            words = self._notation.parse(line)
        except ggn_store.MoveError as error:
            raise ggn_store.MoveError(f"{error}; `help` lists what can be typed") from None
        if len(words.places) == 1:
            return Reply(self._offer(words))
        every = self._choices(words.places)
        found = [choice for choice in every if words.means(choice.move.piece, choice.becomes)]
        allowed = [choice for choice in found if self._is_allowed(choice)]
        if found and not allowed:
            raise ggn_store.MoveError(f"{printable(line)}: captures come first:\n{self._all_moves()}")
        if not found:
            raise ggn_store.MoveError(f"{printable(line)}: {self._why_none(words)}")
        if words.number is not None:
            return self._play(_numbered(allowed, words.number, line))
        if len(allowed) == 1:
            return self._play(allowed[0])
        self.pending = tuple(allowed)
        return Reply(f"{printable(line)} may mean\n{_numbered_text(allowed)}\nwhich? Its number:")

    def _choices(self, places: tuple[str, ...]) -> list[Choice]:
        """All that may be made along a path, numbered; raises MoveError for a path of several steps that is none."""
        found: Sequence[ggn_store.Move | Chain]
        if len(places) == 2:
            source, destination = places
            found = self.ruleset.moves(self.position, source=source, destination=destination, assume=self._assume)
        else:
            found = self.ruleset.along(self.position, places, assume=self._assume)
        return [self._choice(found[number], number + 1) for number in range(len(found))]

    def _choice(self, move: ggn_store.Move | Chain, number: int) -> Choice:
        if isinstance(move, ggn_store.Move):
            return Choice(move, number, self.ruleset.apply(self.position, move, assume=self._assume))
        return Choice(move, number, move.after)

    def _is_allowed(self, choice: Choice) -> bool:
        if not self._captures_first:
            return True
        return choice.move in (self.chains if isinstance(choice.move, Chain) else self.moves)

    def _play(self, choice: Choice) -> Reply:
        every = self._choices(choice.places)
        is_one_of_several = sum(other.move.piece == choice.move.piece for other in every) > 1
        written = MoveText(
            choice.places,
            choice.move.piece if choice.places[0] == HAND else None,
            number=choice.number if is_one_of_several else None,
        )
        self.played.append(Played(self.position, choice, self._notation.text(written)))
        self._go(choice.after)
        return Reply(choice.text(), draw=True)

    def _undo(self) -> Reply:
        if not self.played:
            raise ggn_store.MoveError("undo: nothing has been played")
        last = self.played.pop()
        self._go(last.before)
        return Reply(f"taken back: {last.choice.text()}", draw=True)

    def _go(self, position: ggn_store.Position) -> None:
        self.position, self._allowed = position, None

    def _all_moves(self) -> str:
        text = moves_text(self.moves, self.position) + chains_text(self.chains)
        if not text:
            return f"no moves for {self.position.side}"
        return (text + (HOST_RULE if self._is_forced() else "")).rstrip("\n")

    def _is_forced(self) -> bool:
        """Whether captures come first, and so other moves may not be made."""
        if not self._captures_first:
            return False
        every = len(self.ruleset.moves(self.position, assume=self._assume)), len(self.ruleset.chains(self.position))
        return (len(self.moves), len(self.chains)) != every

    def _offer(self, words: MoveText) -> str:
        """The moves from a place."""
        source = words.places[0]
        moves = [move for move in self.moves if move.source == source and is_named(words.piece, move.piece)]
        chains = [chain for chain in self.chains if chain.source == source and is_named(words.piece, chain.piece)]
        if not moves and not chains:
            raise ggn_store.MoveError(self._why_none(words))
        return (moves_text(moves, self.position) + chains_text(chains)).rstrip("\n")

    def _why_none(self, words: MoveText) -> str:
        """Why nothing goes that way."""
        source, side = words.places[0], self.position.side
        name = place_text(source)
        moves = [move for move in self.moves if move.source == source and is_named(words.piece, move.piece)]
        if moves:
            return f"{name} has no such move; it has\n{moves_text(moves, self.position).rstrip()}"
        if source == HAND:
            return f"{side} has nothing{'' if words.piece is None else ' of that name'} to put on the board"
        piece = self.position.board.get(source)
        if piece is None:
            return f"{name} is empty"
        if not is_named(words.piece, piece):
            return f"{name} has {piece}"
        if side_of(piece) != side:
            return f"{name} has {piece}, and {side} is to move"
        if self._is_forced():
            return f"captures come first:\n{self._all_moves()}"
        return f"{piece} on {name} has no moves"

    def _save(self, file: str) -> Reply:
        from ggn_store.cli import options
        from ggn_store.output import is_stream

        if file != self._saved and os.path.exists(file) and not is_stream(file):
            raise ggn_store.MoveError(f"save {printable(file)}: there is such a file; name another one")
        lines = [f"# {self.ruleset.revision}, from {self.position_text(self.start)}", *self.game()]
        options.write(["\n".join(lines) + "\n"], file)
        self._saved = file
        count = len(self.played)
        return Reply(f"{options.counted(count, 'move')} written to {printable(file)}")

    def game(self) -> list[str]:
        """The moves that were made, as they can be typed again."""
        return [each.written for each in self.played]

    def position_text(self, position: ggn_store.Position) -> str:
        """A position in one line: FEEN, or JSON where FEEN cannot write it."""
        try:
            if self.ruleset.variables:
                return compact(position.data())
            return position.to_feen(self.ruleset.revision.dimensions)
        except ggn_store.PositionError:
            return compact(position.data())

    def words(self) -> list[str]:
        """What a line may begin with now."""
        sources = {move.source for move in self.moves} - {HAND}
        return [*sorted(sources), "moves", "undo", "help", "save", "quit"]


def _said(line: str) -> str:
    return _REMARK.split(line, maxsplit=1)[0].strip()


def _numbered(choices: Sequence[Choice], number: int, line: str) -> Choice:
    for choice in choices:
        if choice.number == number:
            return choice
    there = "there is one possibility" if len(choices) == 1 else f"there are {len(choices)} possibilities"
    raise ggn_store.MoveError(f"{printable(line)}: {there}:\n{_numbered_text(choices)}")


def _numbered_text(choices: Sequence[Choice]) -> str:
    texts = [choice.text() for choice in choices]
    return "\n".join(
        # Conditions, where only they differ.
        f"  {choice.number}: {text}{' ' + choice.conditions() if texts.count(text) > 1 else ''}"
        for choice, text in zip(choices, texts, strict=True)
    )


def unfinished(choices: Sequence[Choice]) -> str:
    """What a list of moves that ends with a question has left open."""
    return f"several possibilities hold, and no number says which:\n{_numbered_text(choices)}"
