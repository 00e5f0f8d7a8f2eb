"""Rows as Arrow tables, pandas frames and Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import need
from ggn_store.output import new_file

FRAMES: Final = "pandas"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """An Arrow table; columns of nothing, or of values of several types, become columns of texts."""
    pa = need("pyarrow", EXTRA)
    rows = list(rows)
    arrays = [_array(pa, [row[at] for row in rows]) for at in range(len(columns))]
    return pa.Table.from_arrays(arrays, names=list(columns))


def _array(pa: Any, values: list[Any]) -> Any:
    # Which makes truth values numbers where both are there.
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1 or kinds == {int, float}:
        try:
            return pa.array(values)
        except (pa.ArrowException, OverflowError, ValueError):  # lists of several types, numbers beyond 64 bits
            pass
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def frame(found: Any) -> Any:
    """An Arrow table as a pandas frame."""
    need("pandas", FRAMES)
    return found.to_pandas()


def parquet(found: Any) -> bytes:
    """An Arrow table as a Parquet file has it."""
    pa, writer = need("pyarrow", EXTRA), need("pyarrow.parquet", EXTRA)
    made = pa.BufferOutputStream()
    writer.write_table(found, made)
    return bytes(made.getvalue())


def write_parquet(found: Any, file: str) -> None:
    """Write an Arrow table to a Parquet file; see `new_file`."""
    # From memory, where an answer in SQL is anyway: Arrow asks a file where in it it is, which a FIFO does not know.
    made = parquet(found)
    with new_file(file) as stream:
        stream.write(made)
