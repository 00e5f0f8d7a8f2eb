"""Game descriptions in files, each checked by itself."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ggn_store.documents import files
from ggn_store.errors import InputError, SpecificationProblem, printable
from ggn_store.gdl.check import SpecificationCheck, check_specification
from ggn_store.gdl.reader import MAX_BYTES


def check_specifications(paths: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[str, SpecificationCheck]]:
    """Check the game descriptions of files, directories, globs or `-`: the name of each file, and what was found.

    In directories only JSON is looked at. Raises InputError for a path that names nothing; a file that cannot be
    read is one with a problem.
    """
    for file in files.find_files(paths):
        if file.is_definition or (file.is_stream and file.path != files.STDIN):
            continue
        name = str(file)
        try:
            with files.open_stream(file) as stream:
                data = stream.read(MAX_BYTES + 1)
        except InputError as error:
            message = str(error).removeprefix(f"{printable(name)}: ")
            yield name, SpecificationCheck(None, (SpecificationProblem(message, file=name),))
            continue
        yield name, check_specification(data, name)
