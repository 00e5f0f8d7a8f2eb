"""Files and directories as a whole or not at all: the one way in which anything of a user's is written.

A regular file is written beside the one that it replaces and renamed over it. Everything else that can be written
(devices, FIFOs, what a process has open) is written into as it comes, and never replaced.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from ggn_store.errors import InputError, printable

Target = str | os.PathLike[str]

STDOUT: Final = "-"
_STANDARD: Final = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_MOST_LINKS: Final = 40


@contextmanager
def new_file(file: Target) -> Iterator[BinaryIO]:
    """A stream into a file that appears, or takes the place of a regular one, once all of it is written.

    A link stays a link, and what it names is written. The file that is replaced keeps its mode, and its owner where
    that is possible; its other names (hard links) keep what it was. A device, a FIFO or an open file (`-`, /dev/stdout,
    /dev/fd/3) gets the bytes as they come. Raises InputError where it cannot be written; then all is as it was.
    A reader that stops early is a BrokenPipeError, as on standard output.
    """
    _require_name(file)
    number = 1 if os.fspath(file) == STDOUT else _open_file(file)
    try:
        status = None if number is not None else _status(file)
        if status is not None and stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if number is not None or (status is not None and not stat.S_ISREG(status.st_mode)):
            with _streamed(file, number) as stream:
                yield stream
            return
        with _replaced(_linked(file), status) as stream:
            yield stream
    except BrokenPipeError:  # whoever reads it has seen enough
        raise
    except OSError as error:
        raise _cannot(file, error) from None


def is_stream(file: Target) -> bool:
    """Whether a name is that of something to write into as it is: a device, a FIFO, an open file."""
    if _open_file(file) is not None:
        return True
    try:
        mode = os.stat(file).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextmanager
def new_directory(directory: Target, room: str, ours: Callable[[Path], set[str]] | None = None) -> Iterator[Path]:
    """A directory to write into, which takes the place of `directory` once all is well, and else leaves nothing.

    What is there already must be an empty directory, or hold nothing but what `ours` names in it, which is replaced;
    `room` says what to do where it is not. Raises InputError, also where nothing can be written.
    """
    shown = printable(os.fspath(directory))
    _require_name(directory)
    if os.fspath(directory) == STDOUT or is_stream(directory):
        raise InputError(f"{shown}: a directory of files is written, which does not go into a stream: name a directory")
    # The link stays a link, and what it names is replaced.
    target = Path(os.path.realpath(directory))
    part = _beside(target)
    made: list[Path] = []
    try:
        _require_room(target, shown, room, ours)
        made = [parent for parent in target.parents if not parent.exists()]
        part.mkdir(0o700 if target.exists() else 0o777, parents=True)
        # Who may only make directories beside it may not write it; after that, for an error of the file system.
        if target.exists() and not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        yield part
        _sync(part)
        _require_room(target, shown, room, ours)
        _put(part, target)
        made = []
    except OSError as error:
        raise _cannot(directory, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()


def _require_name(target: Target) -> None:
    if "\0" in os.fspath(target):
        raise InputError(f"{printable(os.fspath(target))}: cannot be written: no name has a NUL in it")


def _cannot(target: Target, error: OSError) -> InputError:
    # What Arrow says of an error is longer than the error.
    said = error.strerror or str(error) if error.errno is None else os.strerror(error.errno)
    return InputError(f"{printable(os.fspath(target))}: cannot be written: {said}")


def _status(file: Target) -> os.stat_result | None:
    """What is there, behind links; None where nothing is."""
    try:
        return os.stat(file)
    except FileNotFoundError:
        # Only a directory can have such a name.
        if os.path.basename(file) in ("", ".", ".."):
            raise
        return None


def _open_file(file: Target) -> int | None:
    """The number of the open file that a name stands for, as /dev/stdout does.

    To open such a name would begin a file that a shell has opened anew, and fails for a socket.
    """
    own = os.path.realpath("/proc/self")
    name = os.path.abspath(file)
    with suppress(OSError):
        for _ in range(_MOST_LINKS):
            if name in _STANDARD:
                return _STANDARD[name]
            directory, last = os.path.split(name)
            here = f"{own}/fd" if directory == "/dev/fd" else os.path.realpath(directory)
            if last.isdecimal() and here.endswith("/fd") and here.startswith(f"{own}/"):
                return int(last)
            name = os.path.abspath(os.path.join(here, os.readlink(name)))
    return None


def _linked(file: Target) -> Path:
    """What a name leads to; relative where it is, as not everybody may come to where they are from the root."""
    target = Path(file)
    while target.is_symlink():
        target = target.parent / target.readlink()
    return target


@contextmanager
def _streamed(file: Target, number: int | None) -> Iterator[BinaryIO]:
    """A stream into what is there."""
    if number is None:
        flags = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
        number = os.open(file, flags)
    else:
        for text in (sys.stdout, sys.stderr):
            if text is not None:
                text.flush()
        number = os.dup(number)
    with _closed(os.fdopen(number, "wb")) as stream:
        yield stream


@contextmanager
def _replaced(target: Path, status: os.stat_result | None) -> Iterator[BinaryIO]:
    """A stream into a new file, which then is at `target`."""
    if status is not None:
        # Who may only make files beside it may not write it.
        os.close(os.open(target, os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)))
    part = _beside(target)
    try:
        with _closed(_made(part, target, status)) as stream:
            yield stream
            stream.flush()
            if status is not None:
                _keep(part, target, status)
            os.fsync(stream.fileno())
        os.replace(part, target)
    except BaseException:
        with suppress(OSError):  # of which the first error is told
            part.unlink()
        raise


def _made(part: Path, target: Path, status: os.stat_result | None) -> BinaryIO:
    if status is None:
        return open(part, "xb")
    try:
        # What it replaces may be for few eyes.
        return open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600))
    except OSError as error:
        raise InputError(
            f"{printable(str(target))}: cannot be written: no new file, which takes its place once it is whole, can be "
            f"made in {printable(str(target.parent))}: {error.strerror}"
        ) from None


@contextmanager
def _closed(stream: BinaryIO) -> Iterator[BinaryIO]:
    """A stream that is closed at the end; after an error without waiting for what is still to be written."""
    try:
        yield stream
    except BaseException:
        with suppress(OSError):
            stream.raw.close()  # type: ignore[attr-defined]
        raise
    stream.close()


def _beside(target: Path) -> Path:
    # Not with the name in it, which may be as long as a name can be.
    return target.with_name(f".ggn-store.{secrets.token_hex(8)}.part")


def _keep(part: Path, target: Path, status: os.stat_result) -> None:
    """Give a file or a directory the owner, the mode and the access list of what it replaces."""
    found = part.stat()
    if (found.st_uid, found.st_gid) != (status.st_uid, status.st_gid):
        # Only root gives files away, and others only to their groups.
        with suppress(OSError):
            os.chown(part, -1, status.st_gid)
            os.chown(part, status.st_uid, -1)
        found = part.stat()
    is_same = (found.st_uid, found.st_gid) == (status.st_uid, status.st_gid)
    mode = stat.S_IMODE(status.st_mode) & (0o7777 if is_same else 0o777)
    if hasattr(os, "listxattr"):
        for name in _attributes(target):
            with suppress(OSError):
                os.setxattr(part, name, os.getxattr(target, name))
    if stat.S_IMODE(found.st_mode) != mode:
        part.chmod(mode)


def _attributes(target: Path) -> list[str]:
    try:
        return os.listxattr(target)
    except OSError:
        return []


def _require_room(target: Path, shown: str, room: str, ours: Callable[[Path], set[str]] | None) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise InputError(f"{shown}: this is a file: name a new directory")
    if os.path.samefile(target, os.curdir):
        raise InputError(f"{shown}: this is where you are, and the directory is made anew: name another one")
    found = {path.name for path in target.iterdir()}
    if not found:
        return
    if ours is None:
        raise InputError(f"{shown}: there is something already: {room}")
    strange = sorted(found - ours(target))
    if strange:
        raise InputError(f"{shown}: {printable(strange[0])} in it is {room}")


def _sync(part: Path) -> None:
    """Have everything on the disk, before a name says that it is there."""
    for path in part.iterdir():
        # Some systems only take what can be written for this.
        with path.open("rb+") as stream:
            os.fsync(stream.fileno())


def _put(part: Path, target: Path) -> None:
    old = part.with_suffix(".old")
    try:
        if os.path.lexists(target):
            _keep(part, target, target.stat())
            target.rename(old)
        part.rename(target)
    except BaseException:
        if not os.path.lexists(target):
            with suppress(OSError):
                old.rename(target)
        raise
    finally:
        if os.path.lexists(target):
            shutil.rmtree(old, ignore_errors=True)
