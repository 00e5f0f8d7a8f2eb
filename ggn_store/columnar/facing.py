"""What questions about legal moves take of positions beside their moves: see `encode`."""

from __future__ import annotations

from typing import Any

from ggn_store.columnar import sql
from ggn_store.columnar.threats import ROYAL, ThreatTables
from ggn_store.columnar.words import FactTable, Words


class Facing:
    """What questions about legal moves take of positions: sights of the other side, and royal pieces."""

    def __init__(self, np: Any, threats: ThreatTables, codes: int, places: int, squares: int) -> None:
        self._np = np
        pieces = len(threats.pieces)
        self._reverts = np.array([*range(pieces), ROYAL, -1], np.int32)
        for marked, plain in threats.reverts.items():
            self._reverts[marked] = plain
        self._royals = np.full(pieces + 2, -1, np.int32)
        for piece, royal in threats.royals.items():
            self._royals[piece] = royal
        self._royals[ROYAL] = threats.unknown
        self._starts = np.full((pieces + 2, squares), -1, np.int32)
        starts: dict[tuple[int, int], int] = {}
        for piece, square, _ in threats.sights:
            self._starts[piece, square] = starts.setdefault((piece, square), len(starts))
        known: dict[tuple[int, int], int] = {}
        listed = [
            (known.setdefault(fact, len(known)), sight)
            for sight, (_, _, facts) in enumerate(threats.sights)
            for fact in facts
        ]
        self._duties = threats.duties
        self._asks_of_enemies = sql.CAPTURES in threats.duties or threats.has_chains
        self._kinds = np.full(pieces + 2, -1, np.int32)
        for piece, kind in threats.kinds.items():
            self._kinds[piece] = kind
        # Among the passes the first is the one that counts.
        self._passes = np.full(pieces + 2, -1, np.int64)
        for piece, rank in threats.passing.items():
            self._passes[piece] = rank * squares
        self._first_pass = threats.first_pass
        facts = FactTable(np, [*([fact] for fact in known), [(squares, 0)]], codes, places)
        of_sights = np.array([starts[piece, square] for piece, square, _ in threats.sights], np.int32)
        fact, sight = np.array(listed, np.int32).reshape(-1, 2).T
        self._words = Words(np, facts, (of_sights, len(starts)), (fact, sight))
        # Of starts and of where royal pieces stand: whether the one can threaten what matters there.
        self._matters = np.zeros((len(starts), squares + 1), bool)
        self._is_far = threats.ways is None
        if threats.ways is not None:
            on_aim = np.zeros((len(starts), squares), bool)
            sights = threats.tables["threat"]["sight"].to_numpy()
            on_aim[of_sights[sights], threats.tables["threat"]["aim"].to_numpy()] = True
            for square, aims in threats.ways.items():
                self._matters[:, square] = on_aim[:, list(aims)].any(axis=1)

    def unmarked(self, piece: Any, own: Any) -> Any:
        """The pieces without marks on those of the side to move."""
        return self._np.where(own, self._reverts[piece >> 1] << 1 | piece & 1, piece)

    def of(self, position: Any, square: Any, piece: Any, own: Any, codes: Any) -> dict[str, dict[str, Any]]:
        """The columns of `facing` and `royal`, of what stands on squares, with codes as the other side sees them."""
        np, royal = self._np, self._royals[piece >> 1]
        mine = own & (royal >= 0)
        start = self._starts[piece >> 1, square]
        [theirs] = np.nonzero(~own & (start >= 0))
        if not self._is_far:
            theirs = theirs[self._near(position[theirs], start[theirs], position[mine], square[mine])]
        at, sight, word = self._words.of(position[theirs], start[theirs], codes)
        return {
            "facing": {"position": at, "sight": sight, "word": word},
            "royal": {"position": position[mine], "square": square[mine].astype("int32"), "royal": royal[mine]},
        }

    def others(self, position: Any, square: Any, piece: Any, own: Any) -> dict[str, dict[str, Any]]:
        """The columns of the tables that other duties ask for, of what stands on squares."""
        np, found = self._np, {}
        if "pass" in self._duties:
            number = self._passes[piece >> 1] + square
            mine = own & (self._passes[piece >> 1] >= 0)
            order = np.lexsort((number[mine], position[mine]))
            at, firsts = np.unique(position[mine][order], return_index=True)
            passed = (number[mine][order][firsts] + self._first_pass).astype(np.int32)
            found["passing"] = {"position": at.astype(np.int32), "possibility": passed}
        if not sql.LIMITS.isdisjoint(self._duties):
            kind = self._kinds[piece >> 1]
            found["standing"] = {"position": position[kind >= 0], "kind": kind[kind >= 0]}
        if self._asks_of_enemies:
            found["enemy"] = {"position": position[~own], "square": square[~own].astype(np.int32)}
        return found

    def _near(self, position: Any, start: Any, royal_in: Any, stands_on: Any) -> Any:
        """Which starts, in which position, can threaten what matters to some royal piece there."""
        np = self._np
        order = np.argsort(royal_in, kind="stable")
        royal_in, stands_on = royal_in[order], stands_on[order]
        number = np.arange(len(order)) - np.searchsorted(royal_in, royal_in)
        found = np.zeros(len(position), bool)
        for each in range(int(number.max(initial=-1)) + 1):
            # Where there are not so many, it stands nowhere.
            square = np.full(max(position.max(initial=0), royal_in[-1]) + 1, -1, np.int64)
            square[royal_in[number == each]] = stands_on[number == each]
            found |= self._matters[start, square[position]]
        return found
