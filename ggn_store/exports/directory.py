"""A directory that is there as a whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ggn_store.errors import InputError, printable
from ggn_store.exports import manifest

_NUMBERS: Final = itertools.count()


@contextmanager
def new_directory(directory: str | os.PathLike[str], replace: bool) -> Iterator[Path]:
    """A directory to write into, which takes the place of `directory` once all is well, and else leaves nothing.

    What is there already must be an empty directory, or with `replace` an export that nobody has added anything to.
    Raises InputError, also where nothing can be written.
    """
    shown = printable(os.fspath(directory))
    # The link stays a link, and what it names is replaced.
    target = Path(os.path.realpath(directory))
    part = target.with_name(f".ggn-export.{os.getpid()}.{next(_NUMBERS)}.part")
    made: list[Path] = []
    try:
        _require_room(target, shown, replace)
        made = [parent for parent in target.parents if not parent.exists()]
        part.mkdir(parents=True)
        yield part
        _sync(part)
        _require_room(target, shown, replace)
        _put(part, target)
        made = []
    except OSError as error:
        # What Arrow says of an error is longer than the error.
        said = error.strerror or str(error) if error.errno is None else os.strerror(error.errno)
        raise InputError(f"{shown}: cannot be written: {said}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for parent in made:
            with contextlib.suppress(OSError):
                parent.rmdir()


def _require_room(target: Path, shown: str, replace: bool) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise InputError(f"{shown}: this is a file: name a new directory")
    if os.path.samefile(target, os.curdir):
        raise InputError(f"{shown}: this is where you are, and the directory is made anew: name another one")
    found = {path.name for path in target.iterdir()}
    if not found:
        return
    if not replace:
        raise InputError(
            f"{shown}: there is something already: name a new directory, or replace an older export with --force"
        )
    strange = sorted(found - manifest.files_of(target))
    if strange:
        raise InputError(
            f"{shown}: {printable(strange[0])} in it is not of an export, which is all that is replaced: "
            "name a new directory, or remove this one yourself"
        )


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
            target.rename(old)
        part.rename(target)
    finally:
        if old.exists() and not os.path.lexists(target):
            old.rename(target)
        shutil.rmtree(old, ignore_errors=True)
