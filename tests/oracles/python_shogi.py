"""The library's shogi against python-shogi (GPL, the extra `oracles`): `python -m tests.oracles.python_shogi`.

Random games, half of them preferring drops and promotions; every position's legal moves are compared by their names in
USI. A pawn's drop that mates is illegal there, and with a document a duty of the host (no-drop-mate): it is told apart.
"""

from __future__ import annotations

import random
import re
import sys

from ggn_store.games import library
from ggn_store.games.fen import parse_sfen
from ggn_store.notation import cell
from tests.oracles.play import Game

_MOVE = re.compile(r"([a-z][0-9])([a-z][0-9])(\+?)")


def usi(name: str) -> str:
    """A move's name in USI: files from the right, ranks from the top in letters."""
    if "@" in name:
        piece, _, square = name.partition("@")
        return f"{piece}*{_square(square)}"
    match = _MOVE.fullmatch(name)
    assert match is not None, name
    return _square(match[1]) + _square(match[2]) + match[3]


def _square(label: str) -> str:
    x, y = cell.parse(label)
    return f"{9 - x}{'abcdefghi'[8 - y]}"


def main(positions: int) -> None:
    """Compare so many positions, and print what differs."""
    import shogi

    game = Game(library.path_of("shogi").read_text("utf-8"), "shogi")
    chance = random.Random(7)
    compared = moves = mates = different = 0
    while compared < positions:
        board, prefers_rare = shogi.Board(), chance.random() < 0.5
        for _ in range(chance.randrange(20, 200)):
            legal = [move.usi() for move in board.legal_moves]
            if not legal:
                break
            rare = [each for each in legal if "*" in each or each.endswith("+")]
            board.push_usi(chance.choice(rare if rare and prefers_rare and chance.random() < 0.5 else legal))
            if chance.random() < 0.15:
                ours = {usi(name) for name in game.legal(parse_sfen(board.sfen(), game.definition))}
                theirs = {move.usi() for move in board.legal_moves}
                for move in [each for each in ours - theirs if each.startswith("P*")]:
                    board.push_usi(move)
                    if board.is_checkmate():
                        mates += 1
                        ours.discard(move)
                    board.pop()
                compared += 1
                moves += len(theirs)
                if ours != theirs:
                    different += 1
                    print(f"{board.sfen()}: no {sorted(theirs - ours)}, also {sorted(ours - theirs)}")
    print(f"{compared} positions, {moves:,} moves, {mates} drops that mate, {different} different")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
