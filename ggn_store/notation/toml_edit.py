"""TOML text changed to say something else, with its comments, order and layout kept: the one place of tomlkit."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final

from ggn_store.notation import toml

# tomlkit takes some seconds for so many characters.
MOST: Final = 200_000


def edited(text: str, tables: Mapping[str, Any], donors: Sequence[str] = ()) -> str:
    """The text, changed to say these tables; raises TomlError where it cannot be.

    What is new is written as in the first of the donors (other texts) that says it so.
    """
    if max(map(len, (text, *donors))) > MOST:
        raise toml.TomlError(f"is longer than {MOST:,} characters, and is not edited")
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        _edit(document, tables, [tomlkit.parse(donor) for donor in donors])
        return tomlkit.dumps(document)
    # Its containers fail in ways of their own where tables stand out of order.
    except (TOMLKitError, RecursionError, ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        raise toml.TomlError("cannot be edited") from error


def written(tables: Mapping[str, Any]) -> str:
    """The text of tables, without any comments."""
    import tomlkit

    return tomlkit.dumps(tables)


def _edit(container: MutableMapping[str, Any], tables: Mapping[str, Any], donors: Sequence[Any]) -> None:
    for key in [*container]:
        if key not in tables:
            del container[key]
    for key, value in tables.items():
        inner = [donor[key] if isinstance(donor, Mapping) and key in donor else None for donor in donors]
        is_there = key in container
        if is_there and _plain(container[key]) == value and repr(_plain(container[key])) == repr(value):
            continue
        if is_there and isinstance(value, Mapping) and isinstance(container[key], MutableMapping):
            _edit(container[key], value, inner)
        else:
            container[key] = _item(value, inner, container)


def _item(value: Any, donors: Sequence[Any], parent: Any) -> Any:
    """The value as it stands in a donor, else on one line, or as a table of its own."""
    import tomlkit
    from tomlkit.items import InlineTable, Table

    is_inline = isinstance(parent, InlineTable)
    for donor in donors:
        if donor is not None and _plain(donor) == value and not (is_inline and isinstance(donor, Table)):
            return copy.deepcopy(donor)
    if isinstance(value, Mapping) and not is_inline:
        table = tomlkit.table()
        for key, each in value.items():
            table.append(key, _item(each, [], table))
        return table
    return tomlkit.parse(f"value = {toml.value(value)}\n").item("value")


def _plain(item: Any) -> Any:
    return item.unwrap() if hasattr(item, "unwrap") else item
