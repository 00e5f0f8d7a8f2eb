"""The views in Python, and as directories of files."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol, get_args

from ggn_store.api.session import versions
from ggn_store.columnar import vectors, view_files
from ggn_store.columnar.arrow import FRAMES
from ggn_store.columnar.extras import need
from ggn_store.errors import InputError, quote
from ggn_store.exports import manifest
from ggn_store.exports.csv_files import CsvFiles
from ggn_store.exports.sqlite_file import SqliteFile
from ggn_store.model.teams.revision import is_proposal
from ggn_store.model.teams.selection import RulesetNames
from ggn_store.output import new_directory
from ggn_store.store.bulk import view_rows
from ggn_store.store.bulk.piece_columns import Column
from ggn_store.store.bulk.pieces import Pieces
from ggn_store.store.bulk.vectors import LISTS, Vectors
from ggn_store.store.bulk.view_rows import WantedRevision
from ggn_store.store.database.session import Session
from ggn_store.store.rulesets.stored_documents import Transaction
from ggn_store.store.schema.views import VIEWS, View

Format = Literal["parquet", "duckdb", "csv", "sqlite"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
Progress = Callable[[str, int, int], None]


class _Files(Protocol):
    """What writes the files of a format.

    `begin` makes the file or the table of a view, before there are any rows, and gives the file's name. `end` comes
    after its last rows. `finish` comes after the last table, makes the views that are joined of them, and gives the
    names of files beside; `close` closes what is open, also after an error.
    """

    def begin(self, view: View) -> str: ...
    def add(self, view: View, columns: Sequence[Column]) -> None: ...
    def end(self, view: View) -> None: ...
    def finish(self, joined: list[View]) -> list[str]: ...
    def close(self) -> None: ...


_WRITERS: Final[Mapping[str, Callable[[Path], _Files]]] = {
    "parquet": view_files.ParquetFiles,
    "duckdb": view_files.DuckFile,
    "csv": lambda part: CsvFiles(part, vectors.fastest()),
    "sqlite": lambda part: SqliteFile(part, vectors.fastest()),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: how many rows of each table, of how many revisions.

    `formulas` names the columns of CSV files with texts that a spreadsheet would take for formulas.
    """

    directory: str
    form: Format
    revisions: int
    rows: Mapping[str, int]
    formulas: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """The same as JSON data."""
        said = {"directory": self.directory, "form": self.form, "revisions": self.revisions}
        return {**said, "rows": dict(self.rows), "formulas": list(self.formulas)}


class ViewRows:
    """The rows of a view, in the order of rulesets, revisions and their documents; asked for anew each time.

    Truth values are bools, and times are of UTC, in SQLite as well.
    """

    def __init__(self, session: Session, name: str, rulesets: RulesetNames) -> None:
        self._session = session
        self._view, self._every = view_rows.find_view(name)
        self._names = _names(rulesets)
        self.name = name

    def __repr__(self) -> str:
        return f"ViewRows({self.name!r})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; `ggn_store.api.questions.sql.VIEWS` says what they mean."""
        return self._view.names

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows, a few in memory at a time.

        They are of one moment, so that a store in memory answers nothing else until the last.
        """
        with closing(self._batches(LISTS)) as batches:
            for columns in batches:
                yield from zip(*(column.plain() for column in columns), strict=True)

    def batches(self) -> Iterator[Any]:
        """Arrow record batches, one in memory at a time; otherwise like the rows. Needs the extra [duckdb]."""
        schema = view_files.schema(self._view)
        with closing(self._batches(vectors.Arrays())) as batches:
            for columns in batches:
                yield view_files.record_batch(columns, schema)

    def to_arrow(self) -> Any:
        """An Arrow table of all rows. Needs the extra [duckdb]."""
        with closing(self._batches(vectors.Arrays())) as batches:
            return view_files.table(self._view, batches)

    def to_pandas(self) -> Any:
        """A pandas frame of all rows: dtypes Int64 and boolean, which know missing values. Needs the extra [pandas]."""
        need("pandas", FRAMES)
        return view_files.frame(self.to_arrow())

    def _batches(self, kind: Vectors) -> Any:
        with self._session.reading_long() as connection:
            wanted = view_rows.choose(connection, self._names, self._every)
            if self._view.of_pieces is None:
                yield from view_rows.of_revisions(connection, self._view, wanted)
            else:
                pieces = Pieces(self._session.database, connection, kind)
                yield from (columns for _, columns in view_rows.of_pieces(pieces, [self._view], wanted))


@dataclass(frozen=True, slots=True)
class Views:
    """`store.views`: as rows, Arrow tables and frames, and as files."""

    _session: Session

    def rows(self, name: str, rulesets: RulesetNames = None) -> ViewRows:
        """All rows of a view such as `v_moves`, or `v_moves_all`, of all rulesets or of some: to_arrow(), to_pandas().

        Rulesets are `chess`, or `chess@2` for that revision, or all of them proposals. Raises UnknownNameError where
        there is no such view.
        """
        return ViewRows(_holder(self._session, _names(rulesets)), name, rulesets)

    def export(
        self,
        directory: str | os.PathLike[str],
        form: Format = "parquet",
        rulesets: RulesetNames = None,
        *,
        every: bool = False,
        expanded: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """Write all rows of the views into a new directory: as parquet, duckdb, csv or sqlite files.

        Of the newest revisions, of `every` revision, or of `chess@2`; all rows are of one moment. The rules of a piece
        are written once, however many revisions list it: `v_moves` is made of the tables `piece_moves` and `v_pieces`;
        with `expanded` it is a table. `force` replaces an older export. `progress` is told what is read, how many parts
        were, and of how many. Raises InputError where the directory cannot be written, StoreError where the store is
        damaged; then there is none. Parquet needs the extra [duckdb], and so does duckdb.
        """
        if form not in FORMATS:
            raise InputError(f"{quote(form)} is not a format: {', '.join(FORMATS)}")
        names = _names(rulesets)
        room = "not of an export, which is all that is replaced: name a new directory, or remove this one yourself"
        if not force:
            room = "name a new directory, or replace an older export with --force"
        holder = _holder(self._session, names)
        with (
            new_directory(directory, room, manifest.files_of if force else None) as part,
            closing(_WRITERS[form](part)) as files,
            holder.reading_long() as connection,
        ):
            wanted = view_rows.choose(connection, names, every)
            view_rows.require_sound(connection, wanted)
            shown = {view: view if expanded else view.of_pieces or view for view in VIEWS}
            names_of = {view: files.begin(each) for view, each in shown.items()}
            counts: Counter[str] = Counter()
            pieces = Pieces(holder.database, connection, vectors.fastest())
            for view, columns in _parts(pieces, connection, wanted, progress, once=not expanded):
                files.add(view, columns)
                counts[view.name] += len(columns[0])
            for each in shown.values():
                files.end(each)
            joined = [view for view, each in shown.items() if each is not view]
            tables = [manifest.ExportedTable(each, names_of[view], counts[each.name]) for view, each in shown.items()]
            manifest.write(part, form, tables, joined, files.finish(joined), wanted)
        formulas = tuple(files.formulas) if isinstance(files, CsvFiles) else ()
        rows = {each.view.name: each.rows for each in tables}
        return Exported(os.fspath(directory), form, len(wanted), rows, formulas)


def _parts(
    pieces: Pieces, connection: Transaction, wanted: Sequence[WantedRevision], progress: Progress | None, *, once: bool
) -> Iterator[tuple[View, list[Column]]]:
    """The columns of all views, some rows at a time: first of those that have no rows of pieces."""
    of_revisions = [view for view in VIEWS if view.of_pieces is None]
    total = (len(of_revisions) + 1) * len(wanted)
    for place, view in enumerate(of_revisions):
        tell = _teller(progress, view.name, place * len(wanted), total)
        for columns in view_rows.of_revisions(connection, view, wanted, tell):
            yield view, columns
    tell = _teller(progress, "rules of", total - len(wanted), total)
    # Of whole pieces, and moves last: a SQLite file then knows what else each possibility has.
    of_pieces = [view for view in reversed(VIEWS) if view.of_pieces is not None]
    yield from view_rows.of_pieces(pieces, of_pieces, wanted, tell, sys.maxsize, once=once, is_checked=True)


def _teller(progress: Progress | None, what: str, before: int, total: int) -> Callable[[WantedRevision], None]:
    done = before

    def tell(wanted: WantedRevision) -> None:
        nonlocal done
        if progress is not None:
            progress(f"{what} {wanted.ruleset}", done, total)
        done += 1

    return tell


def _holder(session: Session, names: tuple[str, ...] | None) -> Session:
    """The store that has these rulesets: for proposals, one in memory."""
    proposed = list(dict.fromkeys(filter(is_proposal, names or ())))
    if not proposed:
        return session
    if len(proposed) < len(set(names or ())):
        raise InputError(
            f"{quote(proposed[0])} names a proposal, whose rows have keys of their own: ask for proposals apart from "
            "revisions"
        )
    memory: Session | None = None
    for each in proposed:
        memory, _ = versions.proposed(session, each, memory)
    return memory or session


def _names(rulesets: RulesetNames) -> tuple[str, ...] | None:
    return None if rulesets is None else (rulesets,) if isinstance(rulesets, str) else tuple(rulesets)
