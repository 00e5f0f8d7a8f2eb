"""The columnar copy of a store: its views as Parquet files, kept beside it and brought up to date before a question.

The rules of a piece never change: those of new pieces are added, in files of their own, and what the store has no more
is dropped. Tables of revisions are written anew where they differ. `manifest.json` names the files with their SHA-256,
and takes the place of the one before once all are there; what is in no manifest counts for nothing. A copy that is not
as its manifest says is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ggn_store.columnar.compile import EXTRA
from ggn_store.columnar.extras import require
from ggn_store.columnar.vectors import Arrays
from ggn_store.columnar.view_files import ParquetFiles, literal
from ggn_store.errors import InputError, printable
from ggn_store.store.bulk import view_rows
from ggn_store.store.bulk.pieces import Pieces, grouped
from ggn_store.store.database.engine import Database
from ggn_store.store.database.session import Session, known_versions
from ggn_store.store.rulesets.stored_documents import Transaction
from ggn_store.store.schema.views import VIEWS, View
from ggn_store.store.sql import allowed_functions, queries

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SUFFIX: Final = ".columns"
MANIFEST: Final = "manifest.json"
_LOCK: Final = "lock"
_FORMAT: Final = "ggn-store columns 1"
_OURS: Final = re.compile(r"(v|piece)_[a-z_]+-[0-9a-f]{16}\.parquet|manifest-[0-9a-f]{16}\.part")
_MOST_MANIFEST: Final = 1 << 30
# So many files of one table are read as fast as one.
_MOST_FILES: Final = 16
# Where NULL is in an order, as Postgres and SQLite have it.
_NULLS_OF_SERVER: Final = "nulls_last_on_asc_first_on_desc"
_NULLS_OF_FILE: Final = "nulls_first_on_asc_last_on_desc"
# Of address space: what DuckDB takes beside its own limit of memory, mostly without using it.
_BESIDE: Final = 3 << 30
_THREADS: Final = 4
_OF_PIECES: Final = [view for view in VIEWS if view.of_pieces is not None]
_OF_REVISIONS: Final = [view for view in VIEWS if view.of_pieces is None]
# All that a copy depends on, beside the store.
_MADE_AS: Final = hashlib.sha256(
    repr((_FORMAT, known_versions()[-1], [(view.name, view.columns) for view in VIEWS])).encode()
).hexdigest()


@dataclass(slots=True)
class _Kept:
    """What is in a copy: the files of each table with their digests, and the digests of the pieces by their keys."""

    stamp: list[int] | None = None
    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    pieces: dict[int, str] = field(default_factory=dict)

    @property
    def files(self) -> set[str]:
        return {name for files in self.tables.values() for name in files}


# What is told of work: on what, how many pieces are done, and of how many.
Progress = Callable[[str, int, int], None]


@contextmanager
def ready(session: Session, progress: Progress | None = None) -> Iterator[Mapping[str, Sequence[str]]]:
    """The files of each table of the copy, which is up to date, and stays as it is for the block.

    Of several processes one brings it up to date, and others wait for that. Raises InputError where there is no place
    for a copy, and StoreError where the store is damaged.
    """
    for module in ("duckdb", "pyarrow"):
        require(module, EXTRA)
    with ExitStack() as stack:
        directory = _made(session.database)
        reading = os.open(directory, os.O_RDONLY)
        stack.callback(os.close, reading)
        with _locked(directory):
            kept = _refreshed(session, directory, progress or (lambda *_: None))
            _remove(directory, kept.files, reading)
            if fcntl is not None:
                fcntl.flock(reading, fcntl.LOCK_SH)
        yield {table: [str(directory / name) for name in files] for table, files in kept.tables.items()}


def asking(files: Mapping[str, Sequence[str]], is_server: bool) -> queries.QueryEngine:
    """What asks the files of a copy a question in SQL; NULLs are ordered as on a server, or as in SQLite."""
    threads = min(_THREADS, os.cpu_count() or 1)
    told = {
        "files": [file for of_table in files.values() for file in of_table],
        "views": _views(files),
        "askable": [name for view in VIEWS for name in (view.name, view.every) if name is not None],
        "functions": sorted(allowed_functions.DUCKDB),
        "operators": sorted(allowed_functions.DUCKDB_OPERATORS),
        "nulls": _NULLS_OF_SERVER if is_server else _NULLS_OF_FILE,
    }
    return queries.QueryEngine("ggn_store.columnar.duck_child", told, allowed_functions.DUCKDB, threads, _BESIDE)


def _views(files: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The names of views over the files of tables, each with the query that makes it of those before it."""
    views = {}
    for table, of_table in files.items():
        listed = ", ".join(map(literal, of_table))
        name = table if table.startswith("piece_") or table == "v_history" else f"{table}_all"
        views[name] = f"FROM read_parquet([{listed}])"
    views["newest"] = "SELECT ruleset, max(revision) AS revision FROM v_history GROUP BY ruleset"
    for view in VIEWS:
        if view.of_pieces is not None:
            for suffix in ("_all", ""):
                views[view.name + suffix] = view.joined.replace("FROM v_pieces AS", f"FROM v_pieces{suffix} AS", 1)
        elif view.every is not None:
            views[view.name] = f"FROM {view.every} SEMI JOIN newest USING (ruleset, revision)"
    return views


def found(database: Database) -> tuple[str, int] | None:
    """Where the copy of a store is, and how many bytes it has; None where there is none."""
    for directory in _places(database):
        with suppress(OSError):
            if _is_ours(directory) and (directory / MANIFEST).is_file():
                return str(directory), sum(each.lstat().st_size for each in directory.iterdir())
    return None


# --- the place ---


def _places(database: Database) -> Iterator[Path]:
    """Where a copy may be: beside the file of the store, else in the user's cache."""
    if database.file is not None:
        yield database.file.with_name(database.file.name + SUFFIX).absolute()
    elif not database.is_server:
        return
    import platformdirs

    said = str(database) if database.file is None else str(database.file.resolve())
    name = hashlib.sha256(said.encode()).hexdigest()[:32]
    yield Path(platformdirs.user_cache_dir("ggn-store", appauthor=False), "columns", name)


def _made(database: Database) -> Path:
    """The directory of the copy, made where there is none."""
    complaint = "a store in memory has no columnar copy: open it as a file"
    for directory in _places(database):
        try:
            directory.parent.mkdir(0o700, parents=True, exist_ok=True)
            if directory.is_symlink():  # which leads who knows where
                directory.unlink()
            with suppress(FileExistsError):
                directory.mkdir(0o700)
            if not _is_ours(directory):
                raise PermissionError(0, "there is something else, or somebody else's")
            os.chmod(directory, 0o700)
            return directory
        except OSError as error:
            complaint = f"{printable(str(directory))}: no columnar copy can be kept here: {error.strerror}"
    raise InputError(complaint)


def _is_ours(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Nobody else brings the copy up to date."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        lock = os.open(directory / _LOCK, flags, 0o600)
    except OSError as error:
        raise InputError(f"{printable(str(directory / _LOCK))}: cannot be opened: {error.strerror}") from None
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _remove(directory: Path, kept: set[str], reading: int) -> None:
    """Remove files that are in no manifest any more, unless somebody still asks them; then who comes next does."""
    if fcntl is not None:
        try:
            fcntl.flock(reading, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
    for path in directory.iterdir():
        if _OURS.fullmatch(path.name) and path.name not in kept:
            with suppress(OSError):
                path.unlink()


# --- what is there ---


def _read(directory: Path) -> _Kept:
    """What is in a copy; nothing where it is damaged, older, or not ours."""
    try:
        with _open(directory / MANIFEST) as stream:
            said: Any = json.loads(stream.read(_MOST_MANIFEST))
        if said["made_as"] != _MADE_AS:
            return _Kept()
        kept = _Kept(said["stamp"], said["tables"], {int(key): digest for key, digest in said["pieces"].items()})
        tables = {(view.of_pieces or view).name for view in VIEWS}
        is_whole = kept.tables.keys() == tables and all(
            _OURS.fullmatch(name) and name.startswith(f"{table}-") and _digest(directory / name) == digest
            for table, files in kept.tables.items()
            for name, digest in files.items()
        )
        return kept if is_whole else _Kept()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return _Kept()


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """A regular file, and no link."""
    # A FIFO would keep who opens it waiting.
    careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | careful)) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValueError("no regular file")
        yield stream


def _digest(path: Path) -> str:
    with _open(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# --- what is to be there ---


def _refreshed(session: Session, directory: Path, progress: Progress) -> _Kept:
    """What is in the copy once it is as the store is."""
    kept = _read(directory)
    stamp = session.database.stamp()
    if stamp is not None and kept.stamp == stamp:
        return kept
    with session.reading_long() as connection:
        wanted = view_rows.choose(connection, None, every=True)
        view_rows.require_sound(connection, wanted)
        listed = view_rows.digests(connection)
        tables = dict(kept.tables)
        tables |= _of_revisions(connection, directory, wanted, kept)
        pieces = Pieces(session.database, connection, Arrays())
        tables |= _of_pieces(pieces, directory, listed, kept, progress)
    made = _Kept(stamp, tables, listed)
    said = {"made_as": _MADE_AS, "stamp": stamp, "tables": tables, "pieces": listed}
    _replace(directory, json.dumps(said).encode())
    return made


def _replace(directory: Path, manifest: bytes) -> None:
    """Put a manifest in the place of whatever is there: of a link, too, which leads who knows where."""
    part = directory / f"manifest-{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as stream:
            stream.write(manifest)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(directory / MANIFEST)
    except OSError as error:
        raise _cannot(directory, error) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _of_revisions(
    connection: Transaction, directory: Path, wanted: Sequence[view_rows.WantedRevision], kept: _Kept
) -> dict[str, dict[str, str]]:
    """The files of the tables of revisions; those that are there where nothing differs."""
    made: dict[str, dict[str, str]] = {}
    with _written(directory, _OF_REVISIONS, made) as files:
        for view in _OF_REVISIONS:
            for columns in view_rows.of_revisions(connection, view, wanted):
                files.add(view, columns)
    # One that is as before is in no manifest, and so goes.
    return {
        table: kept.tables[table] if [*kept.tables.get(table, {}).values()] == [*each.values()] else each
        for table, each in made.items()
    }


def _of_pieces(
    pieces: Pieces, directory: Path, listed: Mapping[int, str], kept: _Kept, progress: Progress
) -> dict[str, dict[str, str]]:
    """The files of the tables of pieces: those that are there, and one more of what is new."""
    gone = {key for key, digest in kept.pieces.items() if listed.get(key) != digest}
    fresh = [key for key, digest in sorted(listed.items()) if kept.pieces.get(key) != digest]
    tables = {view.of_pieces.name: kept.tables.get(view.of_pieces.name, {}) for view in _OF_PIECES if view.of_pieces}
    if not fresh and not gone and all(tables.values()):
        return tables
    is_anew = bool(gone) or max(map(len, tables.values())) >= _MOST_FILES
    made: dict[str, dict[str, str]] = {}
    shown = [view.of_pieces for view in _OF_PIECES if view.of_pieces]
    with _written(directory, shown, made) as files:
        if is_anew:
            for view in shown:
                for name in tables[view.name]:
                    files.add_again(view, directory / name, gone)
        done = 0
        for group in grouped(pieces.named(fresh)):
            progress("pieces", done, len(fresh))
            done += len(group)
            for view, columns in view_rows.of_group(pieces, _OF_PIECES, group, is_checked=True):
                files.add(view, columns)
    return made if is_anew else {table: tables[table] | made[table] for table in made}


@contextmanager
def _written(directory: Path, views: Iterable[View], made: dict[str, dict[str, str]]) -> Iterator[ParquetFiles]:
    """What writes a file for each table; in the end `made` has their names and digests."""
    ending = f"-{secrets.token_hex(8)}.parquet"
    files = ParquetFiles(directory, ending, zone=None)
    names = {view: files.begin(view) for view in views}
    try:
        yield files
        for view, name in names.items():
            files.end(view)
            os.chmod(directory / name, 0o600)
            made[view.name] = {name: _digest(directory / name)}
    except OSError as error:
        raise _cannot(directory, error) from None
    finally:
        files.close()


def _cannot(directory: Path, error: OSError) -> InputError:
    said = error.strerror or str(error)
    return InputError(f"{printable(str(directory))}: the columnar copy cannot be written: {said}")
