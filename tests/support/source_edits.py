"""Random edits of definitions and game descriptions, as people make them in their text, each of one key."""

from __future__ import annotations

import copy
import json
import random
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Keys = tuple[str, ...]
BETZA = ("W", "F", "N", "WF", "K", "D", "A", "R2", "fWbF")


@dataclass(frozen=True)
class Edit:
    """What one person does to a text, the key that it is about, and the value there afterwards (None: it is gone)."""

    keys: Keys
    value: Any
    write: Callable[[str], str]


def applied(value: dict[str, Any], *edits: Edit) -> dict[str, Any]:
    """The decoded value after edits, by dictionaries alone."""
    result = copy.deepcopy(value)
    for edit in edits:
        *path, last = edit.keys
        table = result
        for key in path:
            table = table.setdefault(key, {})
        if edit.value is None:
            table.pop(last, None)
        else:
            table[last] = edit.value
    return result


def meet(one: Edit, other: Edit) -> bool:
    """Whether two edits are about one key, or one about what the other's key is in."""
    length = min(len(one.keys), len(other.keys))
    return one.keys[:length] == other.keys[:length]


def clashing(ours: list[Edit], theirs: list[Edit]) -> list[Edit]:
    """Ours of which theirs say otherwise."""
    return [one for one in ours if any(meet(one, other) and one.value != other.value for other in theirs)]


def at(value: Any, keys: Keys) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def pair(text: str, number: int, *, playable: bool = False) -> tuple[list[Edit], list[Edit]]:
    """Some edits by each of two people; with `playable`, of descriptions only those that may leave a game."""
    chance = random.Random(number)
    of_descriptions = playable_edits if playable else description_edits
    edits = (of_descriptions if text.startswith("{") else definition_edits)(text, chance)
    ours, theirs = ([next(edits) for _ in range(chance.randrange(1, 4))] for _ in "12")
    if not text.startswith("{") and chance.random() < 0.3:
        ours[-1] = remark(ours[-1], f"remark {number}")
    base = load(text)
    return apart(base, ours), apart(base, theirs)


def load(text: str) -> dict[str, Any]:
    return dict(json.loads(text) if text.startswith("{") else tomllib.loads(text))


def apart(base: dict[str, Any], edits: list[Edit]) -> list[Edit]:
    """The edits that change something, each something else."""
    return [
        edit
        for at, edit in enumerate(edits)
        if applied(base, edit) != base and not any(meet(edit, other) for other in edits[:at])
    ]


def written(text: str, edits: list[Edit]) -> str:
    for edit in edits:
        text = edit.write(text)
    return text


# --- definitions ---


def definition_edits(text: str, chance: random.Random) -> Iterator[Edit]:
    """Random edits of a definition, without end."""
    value = tomllib.loads(text)
    pieces = [piece for piece, table in value["pieces"].items() if "betza" in table]
    plain = [piece for piece in pieces if re.fullmatch("[A-Z]", piece)] or pieces
    unused = [letter for letter in "IJUVYZ" if not any(letter in piece for piece in value["pieces"])]
    while True:
        piece = chance.choice(plain)
        kind = chance.randrange(8)
        if kind < 3:
            betza = chance.choice(BETZA)
            yield Edit(("pieces", piece, "betza"), betza, _set(piece, "betza", betza))
        elif kind == 3:
            name = f"name {chance.randrange(1000)}"
            yield Edit(("pieces", piece, "name"), name, _set(piece, "name", name))
        elif kind == 4:
            # Texts on several lines are left alone.
            key = chance.choice([key for key in ("title", "notes", "source") if "\n" not in value.get(key, "")])
            said = f"said {chance.randrange(1000)}"
            yield Edit((key,), said, _set(None, key, said))
        elif kind == 5 and unused:
            new, betza = chance.choice(unused), chance.choice(BETZA)
            table = f'\n[pieces.{new}]\nname = "new {new}"\nbetza = "{betza}"\n'
            yield Edit(("pieces", new), {"name": f"new {new}", "betza": betza}, _append(table))
        elif kind == 6:
            yield Edit(("pieces", piece, "name"), None, _remove(piece, "name"))
        elif kind == 7:
            zone, squares = f"zone{chance.randrange(4)}", "a1:b2"
            yield Edit(("zones", zone), squares, _set("zones", zone, squares))


def remark(edit: Edit, word: str) -> Edit:
    """The edit by somebody who also writes a comment above what is edited first of the text's tables."""
    return Edit(edit.keys, edit.value, lambda text: re.sub(r"(?m)^\[", f"# {word}\n[", edit.write(text), count=1))


def _header(table: str) -> str:
    return "[zones]" if table == "zones" else f"[pieces.{table}]"


def _section(text: str, table: str | None) -> tuple[int, int] | None:
    """Where the lines of a table begin and end; None without the table."""
    start = 0
    if table is not None:
        header = re.search(rf"(?m)^{re.escape(_header(table))}[^\n]*\n", text)
        if header is None:
            return None
        start = header.end()
    following = re.search(r"(?m)^\[", text[start:])
    return start, len(text) if following is None else start + following.start()


def _set(table: str | None, key: str, value: str) -> Callable[[str], str]:
    def write(text: str) -> str:
        place = _section(text, table)
        line = f"{key} = {json.dumps(value)}\n"
        if place is None:
            return f"{text}\n{_header(str(table))}\n{line}"
        section = text[slice(*place)]
        changed, count = re.subn(rf"(?m)^{key} = .*\n", lambda _: line, section, count=1)
        return text[: place[0]] + (changed if count else line + section) + text[place[1] :]

    return write


def _append(table: str) -> Callable[[str], str]:
    return lambda text: text + table


def _remove(table: str, key: str) -> Callable[[str], str]:
    def write(text: str) -> str:
        place = _section(text, table)
        assert place is not None
        return text[: place[0]] + re.sub(rf"(?m)^{key} = .*\n", "", text[slice(*place)]) + text[place[1] :]

    return write


# --- game descriptions ---


def description_edits(text: str, chance: random.Random) -> Iterator[Edit]:
    """Random edits of a game description, without end; what they say need not be a game."""
    value = json.loads(text)
    scalars = [keys for keys in _scalars(value, ()) if text.count(_member(value, keys)) == 1]
    tables = [keys for keys in _tables(value, ()) if keys]
    while True:
        if chance.random() < 0.7:
            keys = chance.choice(scalars)
            said = f"said {chance.randrange(1000)}"
            yield Edit(keys, said, _replace(_member(value, keys), f"{json.dumps(keys[-1])}: {json.dumps(said)}"))
        else:
            keys, new = chance.choice(tables), f"new{chance.randrange(1000)}"
            table = value
            for key in keys:
                table = table[key]
            first = next(iter(table), None)
            opening = f"{json.dumps(keys[-1])}: {{"
            if first is not None and text.count(opening) == 1:
                yield Edit((*keys, new), 1, _replace(opening, f'{opening}"{new}": 1, '))


def playable_edits(text: str, chance: random.Random) -> Iterator[Edit]:
    """Random edits of a game description, without end: of what it says of itself, and of the size of its board."""
    value = json.loads(text)
    while True:
        keys = chance.choice([keys for keys in _scalars(value, ()) if keys[0] in ("metadata", "topology")])
        old = at(value, keys)
        said = f"said {chance.randrange(1000)}"
        if keys[0] == "topology":
            said = re.sub(r"\d+(?=\)$)", lambda found: str(int(found[0]) + chance.randrange(1, 3)), old)
        if said != old and text.count(_member(value, keys)) == 1:
            yield Edit(keys, said, _replace(_member(value, keys), f"{json.dumps(keys[-1])}: {json.dumps(said)}"))


def _scalars(value: Any, keys: Keys) -> Iterator[Keys]:
    for key, each in value.items() if isinstance(value, dict) else ():
        if isinstance(each, dict):
            yield from _scalars(each, (*keys, key))
        elif isinstance(each, str):
            yield (*keys, key)


def _tables(value: Any, keys: Keys) -> Iterator[Keys]:
    if isinstance(value, dict):
        yield keys
        for key, each in value.items():
            yield from _tables(each, (*keys, key))


def _member(value: Any, keys: Keys) -> str:
    for key in keys:
        value = value[key]
    return f"{json.dumps(keys[-1])}: {json.dumps(value, ensure_ascii=False)}"


def _replace(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def git_merged(directory: Path, base: str, ours: str, theirs: str) -> str | None:
    """What `git merge-file` makes of three texts; None where it has conflicts."""
    files = []
    for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
        files.append(directory / name)
        files[-1].write_text(text, encoding="utf-8")
    done = subprocess.run(["git", "merge-file", "-p", *map(str, files)], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None
