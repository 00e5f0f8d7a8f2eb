"""A VFS of SQLite that fails: the very library that Python's `sqlite3` uses writes through it.

It is the system's own VFS; of the methods of a file only those that change it are replaced, by functions of Python.
What a loss of power leaves of the files is worked out from what was written since their last fsync.
"""

from __future__ import annotations

import ctypes
import functools
import os
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.fault_injection.faults import ERROR, Faults, Operation

_CANTOPEN = 14
_FULL = 13
_OK = 0
_ERRORS: dict[Operation, int] = {
    "read": 10 | 1 << 8,
    "write": 10 | 3 << 8,
    "sync": 10 | 4 << 8,
    "truncate": 10 | 6 << 8,
    "delete": 10 | 10 << 8,
    "create": _CANTOPEN,
}
_OPEN_CREATE = 0x4
_STORE = re.compile(r"\.db(-\w+)?$")
_PROBE = """
CREATE TABLE probe AS
WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT hex(randomblob(100)) FROM n
"""

# fmt: off
_METHODS = (
    "xClose", "xRead", "xWrite", "xTruncate", "xSync", "xFileSize", "xLock", "xUnlock", "xCheckReservedLock",
    "xFileControl", "xSectorSize", "xDeviceCharacteristics", "xShmMap", "xShmLock", "xShmBarrier", "xShmUnmap",
    "xFetch", "xUnfetch",
)
_CALLS = (
    "xOpen", "xDelete", "xAccess", "xFullPathname", "xDlOpen", "xDlError", "xDlSym", "xDlClose", "xRandomness",
    "xSleep", "xCurrentTime", "xGetLastError", "xCurrentTimeInt64", "xSetSystemCall", "xGetSystemCall",
    "xNextSystemCall",
)
# fmt: on


class _File(ctypes.Structure):
    _fields_ = (("pMethods", ctypes.c_void_p),)


class _Methods(ctypes.Structure):
    _fields_ = (("iVersion", ctypes.c_int), *((name, ctypes.c_void_p) for name in _METHODS))


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("iVersion", ctypes.c_int),
        ("szOsFile", ctypes.c_int),
        ("mxPathname", ctypes.c_int),
        ("pNext", ctypes.c_void_p),
        ("zName", ctypes.c_char_p),
        ("pAppData", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _CALLS),
    )


_void, _int, _long = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_SIGNATURES: dict[str, Any] = {
    "xRead": ctypes.CFUNCTYPE(_int, _void, _void, _int, _long),
    "xWrite": ctypes.CFUNCTYPE(_int, _void, _void, _int, _long),
    "xTruncate": ctypes.CFUNCTYPE(_int, _void, _long),
    "xSync": ctypes.CFUNCTYPE(_int, _void, _int),
    "xOpen": ctypes.CFUNCTYPE(_int, _void, _void, _void, _int, _void),
    "xDelete": ctypes.CFUNCTYPE(_int, _void, ctypes.c_char_p, _int),
}


class UnreachableError(Exception):
    """This Python's SQLite cannot be reached from outside, so that no fault can be injected."""


@dataclass
class _Traced:
    """What a file's disk surely holds (None: no such file), and what was done to the file since."""

    durable: bytes | None
    changes: list[tuple[str, int, bytes]] = field(default_factory=list)


class Disk:
    """What was asked of the files that SQLite changes, so that a loss of power can be played."""

    def __init__(self) -> None:
        self._files: dict[str, _Traced] = {}

    def forget(self) -> None:
        """Take what the files hold from now on as being on the disk."""
        self._files.clear()

    def opened(self, path: str) -> None:
        """A file is about to be opened, or made. Only stores are followed, with what is beside them."""
        if path not in self._files and _STORE.search(path):
            self._files[path] = _Traced(_content(path))

    def changed(self, path: str, change: str, at: int = 0, data: bytes = b"") -> None:
        """A file was changed, and nobody has asked yet that the disk keeps it."""
        if path in self._files:
            self._files[path].changes.append((change, at, data))

    def synced(self, path: str) -> None:
        """A file and its name are on the disk as they are."""
        if path in self._files:
            self._files[path] = _Traced(_content(path))

    def lose_power(self, share: float, dice: random.Random) -> None:
        """Let each file hold what its disk surely does, and that share of what was done since."""
        for path, traced in self._files.items():
            content = traced.durable
            for change, at, data in traced.changes:
                if dice.random() < share:
                    content = _changed(content, change, at, data, dice if 0 < share < 1 else None)
                elif change == "delete":
                    break  # the name still leads to the old file, and what came later is in another one
            _put(path, content)
        self.forget()


def _content(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def _changed(content: bytes | None, change: str, at: int, data: bytes, dice: random.Random | None) -> bytes | None:
    if change == "delete":
        return None
    content = content or b""
    if change == "truncate":
        return content[:at].ljust(at, b"\0")
    if dice is not None and dice.random() < 0.25:
        data = data[: dice.randrange(len(data) + 1)]  # torn
    return content[:at].ljust(at, b"\0") + data + content[at + len(data) :]


def _put(path: str, content: bytes | None) -> None:
    # Always another file than before: whoever has the old one open must not see the new one.
    Path(path).unlink(missing_ok=True)
    if content is not None:
        Path(path).write_bytes(content)


class FaultyVfs:
    """The VFS that all connections use that are opened inside `installed`."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.disk = Disk()
        self._library = _library()
        found = self._library.sqlite3_vfs_find(None)
        if not found:
            raise UnreachableError("this Python's SQLite has no VFS")
        self._system: Any = ctypes.cast(found, ctypes.POINTER(_Vfs)).contents
        self._vfs = _Vfs()
        ctypes.memmove(ctypes.byref(self._vfs), ctypes.byref(self._system), ctypes.sizeof(_Vfs))
        self._vfs.zName = b"ggn-faulty"
        self._vfs.pNext = None
        self._paths: dict[int, str] = {}
        self._tables: dict[int, _Methods] = {}
        # SQLite keeps pointers to these for as long as the process lives.
        self._kept: list[Any] = []
        self._vfs.xOpen = self._replacement("xOpen", self._open)
        self._vfs.xDelete = self._replacement("xDelete", self._delete)
        self._system_open = _SIGNATURES["xOpen"](self._system.xOpen)
        self._system_delete = _SIGNATURES["xDelete"](self._system.xDelete)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let new connections use this VFS."""
        self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)
        try:
            yield
        finally:
            self._library.sqlite3_vfs_register(ctypes.byref(self._system), 1)

    def _replacement(self, name: str, function: Callable[..., int]) -> int:
        made = _SIGNATURES[name](function)
        self._kept.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value or 0

    def _fails(self, operation: Operation, path: str) -> int:
        """The error code of an operation, 0 for none."""
        outcome = self.faults.outcome(operation, os.path.basename(path))
        if outcome is None:
            return _OK
        return _FULL if outcome == "full" else _ERRORS[operation]

    # --- what SQLite calls ---

    def _open(self, _vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        path = "" if not name else os.fsdecode(ctypes.string_at(name))
        self.disk.opened(path)
        is_new = bool(path and flags & _OPEN_CREATE) and not os.path.exists(path)
        if is_new and (code := self._fails("create", path)):
            ctypes.cast(file, ctypes.POINTER(_File)).contents.pMethods = None
            return code
        code = int(self._system_open(ctypes.addressof(self._system), name, file, flags, out))
        opened = ctypes.cast(file, ctypes.POINTER(_File)).contents
        if opened.pMethods:
            self._paths[file] = path
            opened.pMethods = ctypes.addressof(self._methods(opened.pMethods))
        return code

    def _delete(self, _vfs: int, name: bytes, sync: int) -> int:
        path = os.fsdecode(name)
        if code := self._fails("delete", path):
            return code
        self.disk.opened(path)
        code = int(self._system_delete(ctypes.addressof(self._system), name, sync))
        if code == _OK:
            self.disk.changed(path, "delete")
            if sync:
                self.disk.synced(path)
        return code

    def _methods(self, address: int) -> _Methods:
        """The methods at `address`, with ours in place of those that can fail."""
        if address not in self._tables:
            system = _Methods.from_address(address)
            ours = _Methods()
            ctypes.memmove(ctypes.byref(ours), ctypes.byref(system), _size(system.iVersion))
            for name, function in (
                ("xRead", self._read),
                ("xWrite", self._write),
                ("xTruncate", self._truncate),
                ("xSync", self._sync),
            ):
                original = _SIGNATURES[name](getattr(system, name))
                setattr(ours, name, self._replacement(name, functools.partial(function, original)))
            self._tables[address] = ours
        return self._tables[address]

    def _read(self, original: Any, file: int, data: int, size: int, at: int) -> int:
        return self._fails("read", self._paths[file]) or int(original(file, data, size, at))

    def _write(self, original: Any, file: int, data: int, size: int, at: int) -> int:
        path = self._paths[file]
        failed = self._fails("write", path)
        if failed and failed != _FULL:
            return failed
        written = size // 2 if failed else size
        code = int(original(file, data, written, at)) if written else _OK
        if code == _OK:
            self.disk.changed(path, "write", at, ctypes.string_at(data, written))
        return failed or code

    def _truncate(self, original: Any, file: int, size: int) -> int:
        path = self._paths[file]
        if code := self._fails("truncate", path):
            return code
        code = int(original(file, size))
        if code == _OK:
            self.disk.changed(path, "truncate", size)
        return code

    def _sync(self, original: Any, file: int, flags: int) -> int:
        path = self._paths[file]
        if code := self._fails("sync", path):
            return code
        code = int(original(file, flags))
        if code == _OK:
            self.disk.synced(path)
        return code


def _size(version: int) -> int:
    """How many bytes the methods of a file have in a version of the interface."""
    last = {1: "xDeviceCharacteristics", 2: "xShmUnmap"}.get(version, "xUnfetch")
    return int(getattr(_Methods, last).offset) + ctypes.sizeof(ctypes.c_void_p)


def _library() -> Any:
    """The library that the module `sqlite3` uses; raises UnreachableError where it is hidden inside of Python."""
    import _sqlite3

    try:
        # A symbol that the module's file lacks is looked for in the libraries that it is linked to.
        library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
        library.sqlite3_libversion.restype = ctypes.c_char_p
        library.sqlite3_vfs_find.restype = ctypes.c_void_p
        library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
        library.sqlite3_vfs_register.argtypes = [ctypes.c_void_p, ctypes.c_int]
    except (OSError, AttributeError) as error:
        raise UnreachableError(f"SQLite is hidden inside of this Python: {error}") from None
    if library.sqlite3_libversion().decode() != sqlite3.sqlite_version:
        raise UnreachableError("this Python's SQLite is another one than the one that was found")
    return library


@functools.cache
def faulty_vfs() -> FaultyVfs:
    """The one VFS of the process; raises UnreachableError where connections do not use it."""
    vfs = FaultyVfs()
    with vfs.installed(), vfs.faults.at(ERROR, 0), closing(sqlite3.connect("")) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute(_PROBE)
        if not vfs.faults.count:
            raise UnreachableError("this Python's SQLite does not use the VFS that was registered")
    return vfs
