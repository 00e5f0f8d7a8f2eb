"""Positions of a game description for comparisons: from random play, from random placements, and near misses.

Nothing here uses ggn_store. What can stand on a board, where, and which values variables have is learnt from play.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.oracles.gdl_interpreter import Game, Label, Outcome, Piece, Plain, Position

GAMES = 24
PLIES = 120


@dataclass
class Seen:
    """What was seen in play."""

    positions: list[Position] = field(default_factory=list)
    pieces: set[Piece] = field(default_factory=set)
    squares: set[Label] = field(default_factory=set)
    values: dict[str, set[Plain]] = field(default_factory=dict)

    def add(self, position: Position) -> None:
        self.positions.append(position)
        self.pieces |= set(position.board.values())
        self.squares |= position.board.keys()
        for name, value in position.state.items():
            self.values.setdefault(name, set()).add(value)


class Positions:
    """An endless supply of positions of a game, always the same for a seed."""

    def __init__(self, game: Game, seed: str, games: int = GAMES, more: list[Position] | None = None) -> None:
        self.game = game
        self.chance = random.Random(seed)
        self.seen = Seen()
        for position in more or []:
            self.seen.add(position)
        for _ in range(games):
            self.play(game.start())
        self.pieces = sorted(self.seen.pieces, key=repr)
        self.squares = sorted(self.seen.squares)
        self.labels = sorted(game.topology.nodes)
        self.values = {name: sorted(values, key=repr) for name, values in sorted(self.seen.values.items())}

    def play(self, position: Position) -> None:
        for _ in range(PLIES):
            self.seen.add(position)
            outcome = self.some_move(position)
            if outcome is None:
                return
            position = outcome[1].after

    def some_move(self, position: Position) -> tuple[tuple[Label, Label], Outcome] | None:
        """A move of a piece by chance, of those that have any."""
        labels = sorted(label for label, piece in position.board.items() if piece.owner == position.player)
        self.chance.shuffle(labels)
        for label in labels:
            found = list(self.game.moves_from(position, label))
            if found:
                target, outcome = self.chance.choice(found)
                return (label, target), outcome
        return None

    def __iter__(self) -> Iterator[Position]:
        while True:
            yield self.chance.choice(self.seen.positions)
            yield self.placement()
            for _ in range(3):
                yield self.near_miss(self.chance.choice(self.seen.positions))
            yield self.near_miss(self.placement())

    def state(self) -> dict[str, Plain]:
        return {name: self.chance.choice(values) for name, values in self.values.items()}

    def player(self) -> str:
        return self.chance.choice(sorted(self.game.players))

    def placement(self) -> Position:
        """Pieces by chance; mostly where pieces come in play, at times anywhere."""
        squares = self.squares if self.chance.random() < 0.8 else self.labels
        density = self.chance.choice((0.1, 0.3, 0.6, 0.9))
        board = {label: self.chance.choice(self.pieces) for label in squares if self.chance.random() < density}
        return Position(board, self.state(), self.player())

    def near_miss(self, position: Position) -> Position:
        """A position in which one thing is otherwise: a square that a move is about, a variable, or the side."""
        move = self.some_move(position)
        about = self.chance.random()
        if about < 0.15 and any(len(values) > 1 for values in self.values.values()):
            name = self.chance.choice([name for name, values in self.values.items() if len(values) > 1])
            return Position(
                position.board, {**position.state, name: self.chance.choice(self.values[name])}, position.player
            )
        if about < 0.2:
            return Position(position.board, position.state, self.player())
        board = dict(position.board)
        square = self.chance.choice([*move[0], *self.between(*move[0])] if move and about < 0.8 else self.squares)
        board.pop(square, None)
        if self.chance.random() < 0.7:
            board[square] = self.chance.choice(self.pieces)
        return Position(board, position.state, position.player)

    def between(self, source: Label, target: Label) -> list[Label]:
        """What stands between two squares or next to them, where that means anything."""
        topology = self.game.topology
        one, other = topology.nodes[source], topology.nodes[target]
        around = [
            node.label
            for node in topology.nodes.values()
            if topology.adjacent(one, node) or topology.adjacent(other, node)
        ]
        return [
            *around,
            *([] if "x" not in one.attributes else [node.label for node in topology.between(one, other) or []]),
        ]
