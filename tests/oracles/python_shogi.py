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

# As python-shogi says: a drop that would mate, and how many legal moves there are beside it.
MATING_DROPS = [
    ("ln2k1+b1l/2s3gs1/p4p2n/1ngpP2rG/PP4P2/2PP2+b1P/L4PR1L/2G3S2/S6NK w 6Pp 114", "P*1h", 80),
    ("1G+P2k1sb/L+P1+P3+Rl/5s2P/g3P1pp1/Spp2N3/P4b1P1/N2K2+l1N/1gS3P1L/g1+p2+p3 b R3Pnp 187", "P*4b", 111),
    ("6sn1/4r3l/n2pppgp1/PsgnP1k1p/lNPP3PP/pP3P1SR/LS2K1pG1/2pG2B1L/B8 b 2P 107", "P*3e", 51),
    ("7n1/p1s1rk3/1pn+Ppspp1/lsp5l/1P3pSN1/P6Pp/1gP3P2/1BNKb+r1GL/+p1G3G2 w LP2p 156", "P*6g", 69),
    ("1n+P3s2/ls1+P2rPl/rkp1gppgP/p2n3p1/1+B4P2/P1G2P2L/1K2pSn+b1/L5G2/1NS+pP4 b 2Pp 97", "P*8d", 62),
    ("l4+L2b/1r1s4p/k3s2Pn/3Gg1p1l/K1P1p1g1P/PP1PSpP2/L1G1P4/3p1b+pp+n/1N1+n1r3 w 2Psp 172", "P*9d", 121),
]

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
