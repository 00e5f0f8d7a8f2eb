"""A game as `ggn-store play` plays it: what is typed, line by line, and what there is to say to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import ggn_store
from ggn_store.cli.play_words import Reader, Words, is_named
from ggn_store.errors import printable
from ggn_store.model.move import Assumption
from ggn_store.notation.hand import HAND
from ggn_store.notation.qpi import side_of
from ggn_store.render.board import effects_text, moves_text, place_text
from ggn_store.render.records import compact

HELP: Final = """\
e2 e4     move; also E2 E4, e2e4, and C:P e2 e4 as `apply` writes it
e7 e8 2   the second of several possibilities; e7e8q: the one that makes a q of it
P* e5     put a P from the hand on e5; also * e5 P
e2        what may move from e2, and P* (or *) what from the hand
moves     all moves of the side to move
undo      take the last move back
save FILE write the moves to a file, which --moves reads
quit      leave; also Ctrl-D
An empty line draws the board again. What follows # is a remark."""
_REMARK: Final = re.compile(r"(?:^|\s)#")


@dataclass(frozen=True, slots=True)
class Choice:
    """A move that can be chosen, and the position after it."""

    move: ggn_store.Move
    after: ggn_store.Position

    @property
    def places(self) -> tuple[str, ...]:
        """From where to where."""
        return self.move.source, self.move.destination

    @property
    def piece(self) -> str:
        """What moves."""
        return self.move.piece

    @property
    def becomes(self) -> str | None:
        """What stands at the end of the way."""
        return self.after.board.get(self.places[-1])

    def text(self) -> str:
        """The move with all that it changes."""
        move = self.move
        said = f"{move.piece} {' '.join(map(place_text, self.places))}"
        return said if move.effects is None else said + effects_text(*_ends(move), move.effects)


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
        self, ruleset: ggn_store.Ruleset, position: ggn_store.Position, assume: Assumption | None = None
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
        self._reader = Reader(ruleset.board.squares)
        self._saved: str | None = None
        self._moves: list[ggn_store.Move] | None = None

    @property
    def moves(self) -> list[ggn_store.Move]:
        """The moves of the position."""
        if self._moves is None:
            self._moves = self.ruleset.moves(self.position, assume=self._assume)
        return self._moves

    def answers(self, line: str) -> bool:
        """Whether a line may follow the question which of several possibilities is meant: a number, or nothing."""
        line = _said(line)
        return not line or (line.isdecimal() and line.isascii())

    def enter(self, line: str) -> Reply:
        """Do what a line says; raises MoveError where it says nothing that can be done."""
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
        if rest == "" and self._reader.square(line) is None:
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
            words = self._reader.read(line)
        except ggn_store.MoveError as error:
            raise ggn_store.MoveError(f"{error}; `help` tells what can be typed") from None
        if len(words.places) == 1:
            return Reply(self._offer(words))
        if len(words.places) > 2:
            raise ggn_store.MoveError(f"{printable(line)}: a move goes from one square to another")
        found = self._choices(words)
        if not found:
            raise ggn_store.MoveError(f"{printable(line)}: {self._why_none(words)}")
        if words.number is not None:
            return self._play(_numbered(found, words.number, line))
        if len(found) == 1:
            return self._play(found[0])
        self.pending = found
        return Reply(f"{printable(line)} may mean\n{_numbered_text(found)}\nwhich? Its number:")

    def _choices(self, words: Words) -> tuple[Choice, ...]:
        """What the words may mean, but for the number."""
        source, destination = words.places
        fitting = [move for move in self.moves if (move.source, move.destination) == (source, destination)]
        choices = (self._choice(move) for move in fitting if is_named(words.piece, move.piece))
        return tuple(
            choice
            for choice in choices
            if is_named(words.last, choice.becomes) or (source == HAND and is_named(words.last, choice.piece))
        )

    def _choice(self, move: ggn_store.Move) -> Choice:
        return Choice(move, self.ruleset.apply(self.position, move, assume=self._assume))

    def _play(self, choice: Choice) -> Reply:
        same = [move for move in self.moves if (move.piece, move.source, move.destination) == _ends(choice.move)]
        written = [*([choice.piece] if choice.places[0] == HAND else []), *choice.places]
        if len(same) > 1:
            written.append(str(same.index(choice.move) + 1))
        self.played.append(Played(self.position, choice, " ".join(written)))
        self._go(choice.after)
        return Reply(choice.text(), draw=True)

    def _undo(self) -> Reply:
        if not self.played:
            raise ggn_store.MoveError("undo: nothing has been played")
        last = self.played.pop()
        self._go(last.before)
        return Reply(f"taken back: {last.choice.text()}", draw=True)

    def _go(self, position: ggn_store.Position) -> None:
        self.position, self._moves = position, None

    def _all_moves(self) -> str:
        return moves_text(self.moves, self.position).rstrip("\n") or f"no moves for {self.position.side}"

    def _offer(self, words: Words) -> str:
        """The moves from a place."""
        source = words.places[0]
        moves = [move for move in self.moves if move.source == source and is_named(words.piece, move.piece)]
        if not moves:
            raise ggn_store.MoveError(self._why_none(words))
        return moves_text(moves, self.position).rstrip("\n")

    def _why_none(self, words: Words) -> str:
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
        return f"{piece} on {name} has no moves"

    def _save(self, file: str) -> Reply:
        from pathlib import Path

        from ggn_store.cli import options

        if file != self._saved and Path(file).exists():
            raise ggn_store.MoveError(f"save {printable(file)}: there is such a file; name another one")
        lines = [f"# {self.ruleset.revision}, from {self.position_text(self.start)}", *self.game()]
        options.write(["\n".join(lines) + "\n"], file)
        self._saved = file
        count = len(self.played)
        return Reply(f"{count} move{'' if count == 1 else 's'} written to {printable(file)}")

    def game(self) -> list[str]:
        """The moves that were made, as they can be typed again."""
        return [each.written for each in self.played]

    def position_text(self, position: ggn_store.Position) -> str:
        """A position in one line: FEEN, or JSON where FEEN cannot write it."""
        try:
            return position.to_feen(self.ruleset.revision.dimensions)
        except ggn_store.PositionError:
            return compact(position.data())

    def words(self) -> list[str]:
        """What a line may begin with now."""
        sources = {move.source for move in self.moves} - {HAND}
        return [*sorted(sources), "moves", "undo", "help", "save", "quit"]


def _said(line: str) -> str:
    return _REMARK.split(line, maxsplit=1)[0].strip()


def _ends(move: ggn_store.Move) -> tuple[str, str, str]:
    return move.piece, move.source, move.destination


def _numbered(choices: Sequence[Choice], number: int, line: str) -> Choice:
    if not 1 <= number <= len(choices):
        there = "there is one possibility" if len(choices) == 1 else f"there are {len(choices)} possibilities"
        raise ggn_store.MoveError(f"{printable(line)}: {there}:\n{_numbered_text(choices)}")
    return choices[number - 1]


def _numbered_text(choices: Sequence[Choice]) -> str:
    texts = [choice.text() for choice in choices]
    lines = []
    for number, (choice, text) in enumerate(zip(choices, texts, strict=True), 1):
        if texts.count(text) > 1:  # only the conditions tell them apart
            text += " " + compact({"must": dict(choice.move.must), "deny": dict(choice.move.deny)})
        lines.append(f"  {number}: {text}")
    return "\n".join(lines)


def unfinished(choices: Sequence[Choice]) -> str:
    """What a list of moves that ends with a question has left open."""
    return f"several possibilities hold, and no number says which:\n{_numbered_text(choices)}"
