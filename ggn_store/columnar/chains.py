"""Chains on columns: one question finds the next steps of many paths at once, each in the position that it has left.

What a chain is, `store.moves.chains` says; the limits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from ggn_store.columnar.batch import Batch, MadePositions
from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need
from ggn_store.model.moves.chain import require_bounded

# Paths that are made at once.
_AT_ONCE: Final = 10_000


@dataclass(frozen=True, slots=True)
class ChainPaths:
    """Paths of as many steps each, as columns; a single step is one, too.

    Of each its `root`, the number of the position that it begins in, its `first` possibility, and its `last`, which is
    made in the position `row` of the batch `before`; whether any step of it `took`, whether it `goes_on` taking, and
    whether hands have what it takes, so that it can be. The last step `left` a position, in rows as `MadePositions` has
    them; `shorter` are the paths before that step.
    """

    length: int
    before: Batch
    root: Any
    row: Any
    first: Any
    last: Any
    took: Any
    goes_on: Any
    can_be: Any
    left: Any
    shorter: ChainPaths | None

    def some(self, which: Any) -> ChainPaths:
        """Some of them."""
        columns = ("root", "row", "first", "last", "took", "goes_on", "can_be", "left")
        return replace(self, **{name: getattr(self, name)[which] for name in columns})

    def is_new(self, found: Any) -> Any:
        """Which of them have come to what none of them has left."""
        np = need("numpy", EXTRA)
        is_new = np.ones(len(found), bool)
        row, paths = np.arange(len(found)), self
        while True:
            is_new &= (paths.left[row] != found).any(axis=1)
            if paths.shorter is None:
                return is_new
            row, paths = paths.row[row], paths.shorter


# What is to be made: the batch before steps and the paths there; positions of it, possibilities, and whether they take.
_Steps = tuple[Batch, "ChainPaths | None", Any, Any, Any]


class Walk:
    """All paths of steps in the positions of a batch; raises MoveError as `store.moves.chains` does.

    `ask` says which steps there are, as `sql.steps` does.
    """

    def __init__(self, ruleset: str, batch: Batch, ask: Callable[[Batch], Any]) -> None:
        self._np = need("numpy", EXTRA)
        self._ruleset, self._batch, self._ask = ruleset, batch, ask
        self._chains = self._np.zeros(batch.count, self._np.int64)

    def __iter__(self) -> Iterator[ChainPaths]:
        todo: list[_Steps | ChainPaths] = [*self._steps(self._batch, None, None)]
        while todo:
            each = todo.pop()
            if isinstance(each, ChainPaths):
                yield each
                continue
            made, paths = self._made(each)
            # Whether they go on is known after those that do.
            todo += [paths, *self._steps(made.batch, paths, paths.can_be & paths.is_new(made.found))]

    def _steps(self, batch: Batch, paths: ChainPaths | None, goes_on: Any) -> Iterator[_Steps]:
        """The steps that follow in positions of a batch, if these go on."""
        asked = self._ask(batch)
        position, possibility, takes = (asked[name].to_numpy() for name in ("position", "possibility", "takes"))
        order = self._np.argsort(position, kind="stable")
        if goes_on is not None:
            order = order[goes_on[position[order]]]
        for begin in range(0, len(order), _AT_ONCE):
            some = order[begin : begin + _AT_ONCE]
            yield batch, paths, position[some], possibility[some], takes[some]

    def _made(self, steps: _Steps) -> tuple[MadePositions, ChainPaths]:
        """The positions after steps, and the paths that end with them."""
        before, shorter, row, last, takes = steps
        made = before.made(row, last, "chain")
        can_be, goes_on = made.can_be, self._np.zeros(len(row), bool)
        if shorter is None:
            return made, ChainPaths(1, before, row, row, last, last, takes, goes_on, can_be, made.left, None)
        length, root = shorter.length + 1, shorter.root[row]
        shorter.goes_on[row[takes & can_be]] = True
        self._np.add.at(self._chains, root[can_be], 1)
        require_bounded(self._ruleset, length if can_be.any() else 0, self._chains.max(initial=0))
        took = takes | shorter.took[row]
        return made, ChainPaths(
            length, before, root, row, shorter.first[row], last, took, goes_on, can_be, made.left, shorter
        )


def continued(found: Iterable[ChainPaths]) -> Any:
    """A table (position, possibility) of the steps that a capture continues.

    The possibility -1 stands for all chains that capture.
    """
    np, pa = need("numpy", EXTRA), need("pyarrow", EXTRA)
    rows = [np.zeros((0, 2), np.int32)]
    for each in found:
        root = each.root[each.goes_on]
        rows.append(np.stack((root, np.full(len(root), -1, np.int32)), axis=1))
        if each.length == 1:
            rows.append(np.stack((root, each.first[each.goes_on]), axis=1))
    position, possibility = np.unique(np.concatenate(rows), axis=0).T
    return pa.table({"position": position.astype(np.int32), "possibility": possibility.astype(np.int32)})
