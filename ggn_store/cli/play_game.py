"""A game as `ggn-store play` plays it: what is typed, line by line, and what there is to say to it."""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NoReturn

import ggn_store
from ggn_store.errors import MoveTextError, counted, printable
from ggn_store.model.moves.chain import Chain, path_of
from ggn_store.notation.hand import HAND
from ggn_store.notation.move_text import MAX_LINE, OWN, MoveText, OwnNotation, is_named
from ggn_store.notation.qpi import Side, side_of
from ggn_store.render.moves import DUTY_RULE, HOST_RULE, chains_text, moves_text, path_text, place_text
from ggn_store.render.records import compact

if TYPE_CHECKING:
    from ggn_store.api.play.game import Game

HELP: Final = """\
e2 e4     move; also E2 E4, e2e4, and C:P e2 e4 as `apply` writes it; Nf3, O-O, P@e5, P*5e
e7 e8 2   the second of several possibilities; e7e8q: the one that makes a q of it
P* e5     put a P from the hand on e5; also * e5 P, and e5 where it can mean nothing else
d3 f5 h7  several moves of one piece that the rules let be made together
pass      pass, where the game lets you
e2        what may move from e2, and P* (or *) what from the hand
moves     all moves of the side to move
undo      take the last move back, and what was answered to it
save FILE write the game: as PGN to FILE.pgn, as JSON to FILE.json, else the moves; --moves reads all of them
quit      leave; also Ctrl-D
An empty line draws the board again. What follows # is a remark."""
_REMARK: Final = re.compile(r"(?:^|\s)#")


@dataclass(frozen=True, slots=True)
class Choice:
    """A move or a chain that can be chosen, and its number among those along its path."""

    move: ggn_store.Move | Chain
    number: int
    becomes: str | None
    notation: str = OWN

    @property
    def places(self) -> tuple[str, ...]:
        """The path from its source to its destination."""
        return path_of(self.move)

    def text(self) -> str:
        """The move with all that it changes."""
        return path_text(self.move)

    def conditions(self) -> str:
        """What distinguishes the choice from others of the same text."""
        steps = self.move.steps if isinstance(self.move, Chain) else (self.move,)
        return " ".join(compact({"must": dict(step.must), "deny": dict(step.deny)}) for step in steps)


@dataclass(frozen=True, slots=True)
class Reply:
    """What there is to say to a line, whether the position is another one now, and whether that was the last line."""

    text: str = ""
    draw: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Opponent:
    """Who plays a side at random."""

    side: Side
    chance: random.Random

    def choose(self, game: Game) -> ggn_store.Move | Chain | None:
        """One of all moves and chains; None where there is none, or the other side is to move."""
        every: list[ggn_store.Move | Chain] = [*game.moves, *game.chains] if game.position.side == self.side else []
        return self.chance.choice(every) if every else None


class TypedGame:
    """A game from a position on, played by lines of text; the moves are those that the store answers."""

    def __init__(self, game: Game, opponent: Opponent | None = None) -> None:
        ruleset = game.ruleset
        if ruleset.dialect == "must-deny" and game.assume is None:
            raise ggn_store.MoveError(
                f"{ruleset.revision} is a must-deny document and does not say what a move changes: "
                "to mean plain displacement, say --assume displacement"
            )
        self.ruleset = ruleset
        self.game = game
        self.pending: tuple[Choice, ...] = ()
        self._opponent = opponent
        self._notation = OwnNotation(ruleset.board.squares)
        self._saved: set[str] = set()

    @property
    def position(self) -> ggn_store.Position:
        """The position that the game has come to."""
        return self.game.position

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

    def answer(self) -> str:
        """What the opponent plays, if there is one who is to move, line by line; "" for nothing."""
        lines = []
        while self._opponent is not None and (move := self._opponent.choose(self.game)) is not None:
            lines.append(f"{self.position.side}: {path_text(move)}")
            self.game = self.game.play(move)
        return "\n".join(lines)

    def left_over(self) -> str:
        """What the ruleset names and does not judge, and the players have to look to themselves; "" for nothing."""
        play = self.ruleset.play
        left = [*(duty.name for duty in play.duties if self.game.pseudo_legal), *play.host]
        return f"left to the players: {', '.join(left)}" if left else ""

    def notes(self) -> str:
        """What the definition says of the game in words; "" where it says nothing or cannot be read."""
        with contextlib.suppress(ggn_store.DocumentError):
            definition = self.ruleset.definition
            return (definition.notes or "") if definition is not None else ""
        return ""

    def load(self, text: str, file: str) -> None:
        """Make it the game that the text of a file writes, as PGN or as JSON."""
        self.game = self.game.read(text, is_record=file.casefold().endswith(".json"))

    def status(self) -> str:
        """How the game ended, or that there is a check or no move; "" where there is nothing to say."""
        if self.game.result.is_over:
            return f"the game is over: {self.game.result}"
        if not self.game.moves:
            return f"no moves for {self.position.side}"
        return "check" if self.game.is_check else ""

    def _move(self, line: str) -> Reply:
        try:
            words = self._notation.parse(line)
        except ggn_store.MoveError as error:
            if self.game.result.is_over:
                raise ggn_store.MoveError(f"{printable(line)}: {self.status()}") from None
            if len(line) > MAX_LINE:
                raise
            try:
                return self._chosen(line, self._read_in_others(line))
            except MoveTextError:
                raise ggn_store.MoveError(f"{error}; `help` lists what can be typed") from None
        if len(words.places) == 1:
            if offered := self._offer(words):
                return Reply(offered)
            return self._chosen(line, self._read(line) or self._drops(words) or self._none(line, words))
        every = self._choices(words.places)
        found = [choice for choice in every if words.means(choice.move.piece, choice.becomes)] or self._read(line)
        if not found:
            self._none(line, words)
        if words.number is not None:
            return self._chosen(line, [_numbered(found, words.number, line)])
        return self._chosen(line, found)

    def _chosen(self, line: str, found: Sequence[Choice]) -> Reply:
        """The move that is meant, made; or the question which one that is."""
        allowed = [choice for choice in found if self.game.may_be_made(choice.move)]
        if not allowed:
            raise ggn_store.MoveError(f"{printable(line)}: {self._why_not(found[0])}")
        if len(allowed) == 1:
            return self._play(allowed[0])
        self.pending = tuple(allowed)
        return Reply(f"{printable(line)} may mean\n{_numbered_text(allowed)}\nwhich? Its number:")

    def _read(self, line: str) -> list[Choice]:
        """What a line means in the notations of others; nothing where it means none."""
        try:
            return self._read_in_others(line)
        except ggn_store.GgnStoreError:
            return []

    def _read_in_others(self, line: str) -> list[Choice]:
        """What a line means in the notations of others; raises MoveTextError for a text that is of none of them."""
        notation, found = self.ruleset.read_move(line, self.position, pseudo=True, assume=self.game.assume)
        return [replace(self._choice(move, number), notation=notation) for number, move in enumerate(found, 1)]

    def _choices(self, places: tuple[str, ...]) -> list[Choice]:
        """All that may be made along a path, numbered; raises MoveError for a path of several steps that is none."""
        found: Sequence[ggn_store.Move | Chain]
        position, assume = self.position, self.game.assume
        if len(places) == 2:
            source, destination = places
            found = self.ruleset.moves(position, source=source, destination=destination, assume=assume)
            # A pass is none of the rules' own moves.
            found = found or [move for move in self.game.moves if path_of(move) == places]
        else:
            found = self.ruleset.along(position, places, assume=assume)
        return [self._choice(move, number) for number, move in enumerate(found, 1)]

    def _drops(self, words: MoveText) -> list[Choice]:
        """What may be put on a place."""
        every = self._choices((HAND, *words.places))
        return [
            each for each in every if words.means(each.move.piece, each.becomes) and self.game.may_be_made(each.move)
        ]

    def _choice(self, move: ggn_store.Move | Chain, number: int) -> Choice:
        after = self.ruleset.apply(self.position, move, assume=self.game.assume)
        return Choice(move, number, after.board.get(move.destination))

    def _play(self, choice: Choice) -> Reply:
        self.game = self.game.play(choice.move)
        said = "" if choice.notation == OWN else f"read as {choice.notation.upper()}: "
        return Reply(said + choice.text(), draw=True)

    def _undo(self) -> Reply:
        try:
            game = self.game.undo()
            while self._opponent is not None and game.position.side == self._opponent.side:
                game = game.undo()
        except ggn_store.MoveError as error:
            raise ggn_store.MoveError(f"undo: {error}") from None
        taken = self.game.plies[len(game.plies) :]
        self.game = game
        return Reply("\n".join(f"taken back: {path_text(ply.move)}" for ply in reversed(taken)), draw=True)

    def _all_moves(self) -> str:
        moves, chains = self.game.moves, self.game.chains
        text = moves_text(moves, self.position) + chains_text(chains)
        rule = HOST_RULE if self.game.captures_first else DUTY_RULE
        return (text + (rule if self._is_forced() else "")).rstrip("\n") if text else self.status()

    def _is_forced(self) -> bool:
        """Whether captures come first, and so other moves may not be made."""
        return self.game.is_captures_first and any(not self.game.may_be_made(each) for each in self.game.every[0])

    def _offer(self, words: MoveText) -> str:
        source = words.places[0]
        moves = [move for move in self.game.moves if move.source == source and is_named(words.piece, move.piece)]
        chains = [chain for chain in self.game.chains if chain.source == source and is_named(words.piece, chain.piece)]
        return (moves_text(moves, self.position) + chains_text(chains)).rstrip("\n")

    def _why_not(self, choice: Choice) -> str:
        why = self.game.why_not(choice.move)
        return f"{why}:\n{self._all_moves()}" if why.startswith("captures") else why

    def _none(self, line: str, words: MoveText) -> NoReturn:
        """Say why nothing goes that way; of a text that is SAN, what can be said of it as that."""
        if words.piece is not None and len(words.places) == 1 and not self.game.result.is_over:
            with contextlib.suppress(MoveTextError):
                self._read_in_others(line)
        why = self._why_none(words)
        raise ggn_store.MoveError(why if len(words.places) == 1 else f"{printable(line)}: {why}")

    def _why_none(self, words: MoveText) -> str:
        source, side = words.places[0], self.position.side
        name = place_text(source)
        if self.game.result.is_over:
            return f"the game is over: {self.game.result}"
        if offered := self._offer(words):
            return f"{name} has no such move; it has\n{offered}"
        if source == HAND:
            return f"{side} has nothing{'' if words.piece is None else ' of that name'} to put on the board"
        piece = self.position.board.get(source)
        if piece is None or not is_named(words.piece, piece):
            there = f"{name} is empty" if piece is None else f"{name} has {piece}"
            is_way = words.piece is not None and len(words.places) == 1
            return f"{there}, and no {printable(str(words.piece))} can move there" if is_way else there
        if side_of(piece) != side:
            return f"{name} has {piece}, and {side} is to move"
        if self._is_forced():
            return f"captures come first:\n{self._all_moves()}"
        if any(move.source == source for move in self.game.every[0]):
            return f"{piece} on {name} has no legal moves"
        return f"{piece} on {name} has no moves"

    def _save(self, file: str) -> Reply:
        from ggn_store.cli import printing
        from ggn_store.output import is_stream

        if file not in self._saved and os.path.exists(file) and not is_stream(file):
            raise ggn_store.MoveError(f"save {printable(file)}: there is such a file; name another one")
        form = next((form for suffix, form in _FORMS.items() if file.casefold().endswith(suffix)), TypedGame._list)
        try:
            text = form(self)
        except ggn_store.GgnStoreError as error:
            raise ggn_store.MoveError(f"save {printable(file)}: {error}") from None
        printing.write([text], file)
        self._saved.add(file)
        return Reply(f"{counted(len(self.game.plies), 'move')} written to {printable(file)}")

    def _list(self) -> str:
        """The moves that were made, as they can be typed again."""
        lines = [f"# {self.ruleset.revision}, from {self._start_text()}", *self.game.texts()]
        return "\n".join(lines) + "\n"

    def _start_text(self) -> str:
        """The start in one line: FEEN, or JSON where FEEN cannot write it."""
        start = self.game.start
        try:
            if self.ruleset.handle.told_variables:
                return compact(start.data())
            return start.to_feen(self.ruleset.revision.dimensions)
        except ggn_store.PositionError:
            return compact(start.data())

    def words(self) -> list[str]:
        """What a line may begin with now."""
        sources = {move.source for move in self.game.moves} - {HAND}
        return [*sorted(sources), "moves", "undo", "help", "save", "quit"]


# What a game is saved as, by the end of the file's name.
_FORMS: Final[Mapping[str, Callable[[TypedGame], str]]] = {
    ".pgn": lambda play: play.game.pgn(),
    ".json": lambda play: compact(play.game.record()) + "\n",
}


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
