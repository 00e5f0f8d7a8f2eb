"""Games on their way into documents and stores: definitions, and the library that comes with the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from ggn_store import resources
from ggn_store.api.loading import incoming
from ggn_store.documents import files
from ggn_store.documents.convert import convert, require_lossless
from ggn_store.errors import InputError, UnknownNameError, offer, printable, quote
from ggn_store.games import definition as definitions
from ggn_store.games import generate as generator
from ggn_store.games import library, playing
from ggn_store.games.library import LibraryGame
from ggn_store.games.rules import Definition
from ggn_store.model.documents import board as boards
from ggn_store.model.documents.board import Board
from ggn_store.model.documents.document import Dialect, Document, Piece, canonical_text, check_dialect
from ggn_store.model.teams.selection import is_pattern, select
from ggn_store.notation import toml, toml_edit
from ggn_store.notation.hand import HAND

# Folders of the library beside the games: documents of the seeds, game descriptions, and what is very large.
FOLDERS: Final = ("examples", library.DESCRIPTIONS, library.LARGE)
ALL: Final = "all"
_LOSSES: Final = 1_000


def read_definition(text: str | bytes, file: str | None = None) -> Definition:
    """The game that a definition (TOML) says; raises DocumentError with every problem, which carry the name `file`."""
    return definitions.read(text, file)


def generate_parts(definition: Definition, dialect: Dialect | None = None) -> Iterator[str]:
    """The canonical text of a game's document in parts, no more than one piece in memory at a time.

    Raises ConversionError before the first part where the dialect cannot say all of it.
    """
    own = generator.dialect(definition)
    wanted = own if dialect is None else check_dialect(dialect)
    if wanted != own:
        require_lossless(own, some_pieces(definition), wanted, kept=_LOSSES)
    envelope = playing.envelope(definition)

    def converted() -> Iterator[Piece]:
        for piece in some_pieces(definition):
            yield from convert(Document(own, (piece,), envelope), wanted).pieces

    return canonical_text(wanted, None, converted(), envelope.variables)


def some_pieces(definition: Definition, tell: Callable[[Piece], None] = lambda _: None) -> Iterator[Piece]:
    """The pieces of a game's document one at a time, each told of; raises InputError where there are none."""
    is_empty = True
    for piece in generator.pieces(definition):
        is_empty = False
        tell(piece)
        yield piece
    if is_empty:
        raise InputError(f"{printable(definition.title)}: no piece of this game can ever move: see `betza` and `drop`")


def board_of(definition: Definition) -> Board:
    """The board of the game's document, which for listed squares is the one around those that it names."""
    shape = definition.board.shape_text
    if shape is not None:
        return boards.parse_shape(shape)
    named: set[str] = set()
    for piece in some_pieces(definition):
        named |= piece.squares() - {HAND}
        if named.issuperset(definition.board.squares):  # there are no others, and most first pieces name them all
            break
    return boards.around(named)


# --- the library ---


def library_games() -> list[LibraryGame]:
    """What is in each game of the library, by name, without generating any; definitions come first."""
    known = library.index()
    return [known[name] for name in (*library.names(), *library.descriptions(), *library.large()) if name in known]


def library_names(wanted: Iterable[str]) -> list[str]:
    """The games that names, globs and words such as `draughts` mean; raises UnknownNameError where one means none."""
    known = [game.name for game in library_games()]
    found: dict[str, None] = {}
    for each in wanted:
        chosen = select([each], known, "the library") if is_pattern(each) or each in known else library.find(each)
        if not chosen:
            raise library.unknown(each)
        found |= dict.fromkeys(chosen)
    return [*found]


def library_files(names: Iterable[str] = ()) -> list[files.File]:
    """Files of the library: named games, `all` of them, `examples`, `gdl`; without names a few well-known games.

    Games of `large` are not among `all`. Raises UnknownNameError, naming the nearest names.
    """
    found: dict[str, files.File] = {}
    for name in map(library.full_name, list(names) or library.STARTER):
        if name == ALL:
            chosen = [files.File(str(library.path_of(each)), each) for each in library.names()]
            chosen += _folder(library.DESCRIPTIONS)
        elif name.partition("/")[0] in FOLDERS:
            chosen = _folder(name)
        else:
            chosen = [files.File(str(library.path_of(name)), name)]
        found |= {file.path: file for file in chosen}
    return list(found.values())


def _folder(name: str) -> list[files.File]:
    """What is in a folder of the library: all of it, or one file as `examples/NAME`."""
    folder = name.partition("/")[0]
    found = {f"{folder}/{file.name}": file.path for file in files.find_files([resources.directory("data") / folder])}
    if name != folder and name not in found:
        raise UnknownNameError(f"the library has no {quote(name)}; it has {offer(list(found))}")
    return [files.File(path, each) for each, path in found.items() if name in (folder, each)]


def library_source(name: str) -> str:
    """The definition or game description (`gdl/NAME`) of a game of the library.

    Raises UnknownNameError, naming the nearest names, and for what is a document.
    """
    found = library_files([name])
    entry = next(incoming.read(found[0])) if len(found) == 1 else None
    if isinstance(entry, incoming.GameEntry):
        return str(entry.definition().text)
    if isinstance(entry, incoming.SpecificationEntry) and isinstance(entry.data, str):
        from ggn_store.gdl.check import read_specification

        return read_specification(entry.data, entry.file, entry.beside).text
    raise UnknownNameError(f"{quote(name)} is no game of the library with a definition (see `list --library`)")


def begun(source: str, title: str) -> tuple[str, str]:
    """A definition or game description with another title, and the ending of a file of it.

    Raises DocumentError where it is none with this title.
    """
    if source.lstrip("\ufeff \t\r\n").startswith("{"):
        from ggn_store.api.loading import specifications
        from ggn_store.gdl.check import read_specification

        text = specifications.retitled(source, title)
        read_specification(text, "the new game description")
        return text, ".json"
    try:
        text = toml_edit.edited(source, toml.load(source) | {"title": title})
    except toml.TomlError as error:
        raise InputError(f"the definition {error}") from None
    read_definition(text, "the new definition")
    return text, ".toml"


def find_game(game: str) -> Definition:
    """The definition that a name of the library or a file's path (`mine.toml`, `-`) leads to.

    Raises UnknownNameError for a name that the library does not have, InputError for a file that cannot be read.
    """
    is_file = game == files.STDIN or game.endswith(".toml") or os.sep in game
    if not is_file and (game in library.names() or not Path(game).is_file()):
        return library.read_game(game)
    if game != files.STDIN and not Path(game).exists():
        raise InputError(f"{printable(game)}: there is no such file")
    return incoming.read_game(files.File(game)).definition()
