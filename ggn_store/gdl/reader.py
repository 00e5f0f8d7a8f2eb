"""JSON -> what a specification says, with every complaint about it.

Whatever can be read is read, also where something beside it is wrong, so that one reading finds all problems. The
expressions are parsed here; what their names mean is for `check`.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ggn_store.errors import UNSTORABLE, SpecificationProblem, closest, offer, quote
from ggn_store.gdl import expressions, language
from ggn_store.gdl.expressions import Call, Expression, ExpressionError, Literal, Name
from ggn_store.gdl.specification import (
    TYPES,
    Action,
    Asset,
    Attribute,
    Clause,
    Edge,
    EndCondition,
    Grid,
    HexGrid,
    Network,
    Node,
    Phase,
    Place,
    Placement,
    Player,
    Profile,
    Schema,
    Specification,
    Topology,
    Value,
    Variable,
    label,
)
from ggn_store.notation import json_text
from ggn_store.notation.json_text import Path, Twin, pointer

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_NODES: Final = 1_024
MAX_MEMBERS: Final = 1_000
MAX_NAME: Final = 255
MAX_TEXT: Final = 20_000
MAX_VALUES: Final = 256
MAX_PROBLEMS: Final = 1_000

SECTIONS: Final = (
    "metadata",
    "players",
    "entity_schemas",
    "topology",
    "state_schema",
    "setup",
    "interactions",
    "game_flow",
    "end_conditions",
    "presentation",
)
_OPTIONAL: Final = ("setup", "end_conditions", "presentation", "$schema", "description")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_STRUCTURE = re.compile(r"\s*(\w+)\s*\(\s*([0-9]+)\s*,\s*([0-9]+)\s*\)\s*")
_BUILT_IN: Final = ("schema", "pos", "name", "x", "y", "q", "r")


def is_specification(value: object) -> bool:
    """Whether a JSON value is meant to be a specification, right or wrong, and no GGN document."""
    return isinstance(value, Mapping) and len([key for key in SECTIONS if key in value]) >= 3


@dataclass(slots=True)
class Draft:
    """What could be read of a specification; `topology` and others are None where they could not be read.

    `zones` are the names of a topology of cards, which is refused, and yet may be named.
    """

    title: str = ""
    description: str | None = None
    players: list[Player] = field(default_factory=list)
    schemas: dict[str, Schema] = field(default_factory=dict)
    topology: Topology | None = None
    variables: dict[str, Variable] = field(default_factory=dict)
    first_player: str | None = None
    setup: list[Placement] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    initial_phase: str | None = None
    assets: list[Profile] = field(default_factory=list)
    end_conditions: list[EndCondition] = field(default_factory=list)
    text: str = ""

    def specification(self) -> Specification:
        """The draft as a specification, which it only is where nothing is wrong with it."""
        if self.topology is None or self.first_player is None or self.initial_phase is None:
            raise ValueError("the draft is not complete")
        return Specification(
            self.title,
            tuple(self.players),
            self.schemas,
            self.topology,
            self.variables,
            self.first_player,
            tuple(self.setup),
            tuple(self.actions),
            tuple(self.phases),
            self.initial_phase,
            tuple(self.assets),
            tuple(self.end_conditions),
            self.description,
            self.text,
        )


@dataclass(frozen=True, slots=True)
class Complaint:
    """Something that is wrong at a path; with the expression and the character in it, where it is about one."""

    path: Path
    message: str
    found: str | None = None
    allowed: str | None = None
    at_key: bool = False
    expression: str | None = None
    at: int | None = None
    code: str = "invalid"


class TooManyError(Exception):
    """There are more problems than anybody would read; what follows is not looked at."""


def read(data: str | bytes | Mapping[str, Any]) -> Reader:
    """Read a specification: JSON as text, as bytes, or decoded."""
    reader = Reader()
    with contextlib.suppress(TooManyError):
        reader.read(data)
    return reader


class Reader:
    """Reads one specification; afterwards it has the draft and all complaints, and knows the places of all values."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.complaints: list[Complaint] = []
        self._known: set[Complaint] = set()
        self._text: str | None = None
        self._paths: dict[str, Path] = {}
        self._places: Mapping[Path, tuple[int, int]] = {}
        self._lines = json_text.Lines("")
        self._faults: list[json_text.Fault] = []
        self._has_dynamic_roles = False

    def read(self, data: str | bytes | Mapping[str, Any]) -> None:
        """Read everything; to be called once."""
        if isinstance(data, bytes | bytearray | memoryview):
            if len(data) > MAX_BYTES:
                self.complain((), f"the specification is larger than {MAX_BYTES:,} bytes", f"{len(data):,} bytes")
                return
            data, fault = json_text.decode_bytes(bytes(data))
            if fault is not None:
                self._text = data
                self._lines = json_text.Lines(data)
                self._faults = [fault]
                return
        value: Any = data
        if isinstance(data, str):
            if len(data) > MAX_BYTES:
                self.complain((), f"the specification is larger than {MAX_BYTES:,} characters", f"{len(data):,}")
                return
            self._text = self.draft.text = data
            value, self._faults = json_text.load(data)
            self._lines = json_text.Lines(data)
            self._places = json_text.scan(data, None).places
            if value is None and self._faults:
                return
        for section in ("topology", "interactions"):
            self.place((section,))
        if self._is_sane(value, (), 1):
            self._whole(value)

    def problems(self, file: str | None = None) -> list[SpecificationProblem]:
        """Everything that is wrong, in the order of the text."""
        result = []
        for fault in self._faults:
            line, column = self._lines.place(fault.offset)
            result.append(
                SpecificationProblem(
                    fault.message, pointer(fault.path), line, column, file, fault.found, fault.allowed,
                    section=_section(fault.path), action=_action(fault.path),
                )
            )  # fmt: skip
        at_fault = {fault.path for fault in self._faults}
        result += [self.problem(each, file) for each in self.complaints if each.path not in at_fault]
        result.sort(key=lambda each: (each.line or 0, each.column or 0))
        if len(result) >= MAX_PROBLEMS:
            message = f"there are {MAX_PROBLEMS:,} problems or more: the rest was not looked at"
            result[MAX_PROBLEMS:] = [SpecificationProblem(message, file=file)]
        return result

    def problem(self, complaint: Complaint, file: str | None = None, severity: str = "problem") -> SpecificationProblem:
        """A complaint with its place in the text."""
        line, column = self._line_and_column(complaint)
        path = complaint.path
        return SpecificationProblem(
            complaint.message, pointer(path), line, column, file, complaint.found, complaint.allowed, complaint.code,
            _section(path), _action(path), complaint.expression, complaint.at, severity,
        )  # fmt: skip

    def add(self, complaint: Complaint) -> None:
        """Keep a complaint; raises TooManyError where there are so many that nobody would read more."""
        if complaint not in self._known:
            self._known.add(complaint)
            self.complaints.append(complaint)
        if len(self.complaints) >= MAX_PROBLEMS:
            raise TooManyError

    def complain(
        self, path: Path, message: str, found: str | None = None, allowed: str | None = None, at_key: bool = False
    ) -> None:
        """Keep a complaint about the value (or the key) at a path."""
        self.add(Complaint(path, message, found, allowed, at_key))

    def refuse(self, path: Path, construct: str, reason: str, at_key: bool = False) -> None:
        """Keep a complaint about something that no move database can hold."""
        self.add(Complaint(path, f"{construct}: {reason}", at_key=at_key, code="refused"))

    def place(self, path: Path) -> Place:
        """Where the value at a path stands."""
        at = pointer(path)
        self._paths[at] = path
        if path not in self._places:
            return Place(at)
        return Place(at, *self._lines.place(self._places[path][1]))

    def path(self, place: Place) -> Path:
        """The path of a place that this reader has made."""
        return self._paths.get(place.pointer, ())

    def _line_and_column(self, complaint: Complaint) -> tuple[int | None, int | None]:
        if self._text is None or complaint.path not in self._places:
            return None, None
        key, value = self._places[complaint.path]
        if complaint.at is not None:
            value = _inside(self._text.removeprefix("\ufeff"), value, complaint.at)
        return self._lines.place(key if complaint.at_key else value)

    # Before anything else.

    def _is_sane(self, value: Any, path: Path, depth: int) -> bool:
        """Whether the texts and numbers are of a size and kind that everything after this can rely on."""
        if depth > json_text.MAX_DEPTH:
            self.complain(path, "the specification is nested too deeply", None, f"at most {json_text.MAX_DEPTH} levels")
            return False
        if isinstance(value, Mapping):
            found = [self._is_text(key, (*path, key), True) for key in value]
            found += [self._is_sane(each, (*path, key), depth + 1) for key, each in value.items()]
            return all(found)
        if isinstance(value, list | tuple):
            found = [self._is_sane(each, (*path, number), depth + 1) for number, each in enumerate(value)]
            return all(found)
        if isinstance(value, str):
            return self._is_text(value, path, False)
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int | float):
            if isinstance(value, float) and (math.isnan(value) or not value.is_integer()):
                self.complain(path, "only whole numbers are possible", quote(value), "a number without a fraction")
                return math.isnan(value)
            if abs(value) > expressions.MAX_NUMBER:
                limit = expressions.MAX_NUMBER
                self.complain(path, "the number is out of range", quote(value), f"-{limit} to {limit}")
                return False
            return True
        self.complain(path, "this is no JSON value", quote(value))
        return False

    def _is_text(self, text: Any, path: Path, at_key: bool) -> bool:
        if not isinstance(text, str):
            self.complain(path[:-1], "a key is not text", quote(text), "a string")
            return False
        limit = MAX_NAME if at_key else MAX_TEXT
        if len(text) > limit:
            self.complain(path, "the text is too long", f"{len(text):,} characters", f"at most {limit:,}", at_key)
            return False
        if UNSTORABLE.search(text):
            self.complain(path, "the text has a character that no database keeps", quote(text), None, at_key)
            return False
        return True

    # Parts of JSON.

    def _object(
        self, value: Any, path: Path, what: str, allowed: Collection[str], required: Collection[str] = ()
    ) -> dict[str, Any]:
        """The members of an object that has just these keys; what else it has is complained about."""
        if not isinstance(value, Mapping):
            self.complain(path, f"{what} must be an object", quote(value), "{ ... }")
            return {}
        members = {}
        for key, member in value.items():
            if isinstance(key, Twin):
                continue
            if key in allowed:
                members[key] = member
            elif key in language.REFUSED_KEYS:
                if not (member == "all" or member is (key == "visible")):
                    self.refuse((*path, key), f"{key} of {what}", language.REFUSED_KEYS[key], True)
            else:
                near = closest(key, allowed)
                self.complain(
                    (*path, key),
                    f"{what} has no {quote(key)}" + (f": did you mean {near}?" if near else ""),
                    None,
                    ", ".join(allowed),
                    True,
                )
        for key in required:
            if key not in members:
                self.complain(path, f"{what} lacks {key}", None, f"{quote(key)}: ...")
        return members

    def _named(self, value: Any, path: Path, what: str) -> Iterator[tuple[str, Any, Path]]:
        """The members of an object whose keys are names of the user's own: name, value, path."""
        if not isinstance(value, Mapping):
            self.complain(path, f"{what} must be an object of names", quote(value), "{ ... }")
            return
        if len(value) > MAX_MEMBERS:
            self.complain(path, f"{what}: too many", f"{len(value):,}", f"at most {MAX_MEMBERS:,}")
            return
        for key, member in value.items():
            if not isinstance(key, Twin):
                yield key, member, (*path, key)

    def _items(self, value: Any, path: Path, what: str) -> Iterator[tuple[Any, Path]]:
        if not isinstance(value, list | tuple):
            self.complain(path, f"{what} must be an array", quote(value), "[ ... ]")
            return
        if len(value) > MAX_MEMBERS:
            self.complain(path, f"{what}: too many", f"{len(value):,}", f"at most {MAX_MEMBERS:,}")
            return
        for number, member in enumerate(value):
            yield member, (*path, number)

    def _text_of(self, members: Mapping[str, Any], key: str, path: Path, what: str) -> str | None:
        """A member that is text, None where it is not there or something else."""
        value = members.get(key)
        if key in members and not isinstance(value, str):
            self.complain((*path, key), f"{key} of {what} must be text", quote(value), "a string")
        return value if isinstance(value, str) else None

    def _flag(self, members: Mapping[str, Any], key: str, path: Path, what: str) -> bool:
        value = members.get(key, False)
        if not isinstance(value, bool):
            self.complain((*path, key), f"{key} of {what} must be true or false", quote(value), "true, false")
        return value is True

    def _name(self, name: str, path: Path, what: str, taken: Collection[str] = (), at_key: bool = True) -> bool:
        """Whether a name can be written in expressions."""
        if not _IDENTIFIER.fullmatch(name) or name in ("true", "false", "null"):
            self.complain(
                path, f"no expression can say the name of this {what}", quote(name), "letters, digits and _", at_key
            )
            return False
        if name in taken:
            self.complain(path, f"the name {name} has a meaning already", None, f"another name for the {what}", at_key)
            return False
        return True

    def _label(self, name: str, path: Path, what: str, at_key: bool = True) -> bool:
        """Whether a name can be written as a text in quotes."""
        if not name or not name.isprintable() or name != name.strip() or ("'" in name and '"' in name):
            self.complain(
                path, f"this is no name for a {what}", quote(name), "printable text, without space around it", at_key
            )
            return False
        return True

    def _clause(self, value: Any, path: Path, what: str) -> Clause | None:
        if not isinstance(value, str):
            self.complain(path, f"{what} must be an expression", quote(value), "a string")
            return None
        try:
            return Clause(value, expressions.parse(value), self.place(path))
        except ExpressionError as error:
            self.add(Complaint(path, error.message, error.found, error.allowed, expression=value, at=error.at))
            return None

    # The sections.

    def _whole(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            self.complain((), "a specification is an object", quote(value), "{ ... }")
            return
        required = [key for key in SECTIONS if key not in _OPTIONAL]
        whole = self._object(value, (), "the specification", (*SECTIONS, "$schema", "description"), required)
        readers: dict[str, Callable[[Any, Path], None]] = {
            "metadata": self._metadata,
            "players": self._players,
            "entity_schemas": self._schemas,
            "topology": self._topology,
            "state_schema": self._state,
            "setup": self._setup,
            "interactions": self._interactions,
            "game_flow": self._flow,
            "end_conditions": self._ends,
            "presentation": self._presentation,
        }
        for key, reader in readers.items():
            if key in whole:
                reader(whole[key], (key,))
        draft = self.draft
        if draft.first_player is None and draft.players and "current_player" not in draft.variables:
            draft.first_player = draft.players[0].name
        draft.variables.pop("current_player", None)

    def _metadata(self, value: Any, path: Path) -> None:
        allowed = ("name", "description", "version", "tags", "author", "license", "source")
        members = self._object(value, path, "metadata", allowed, ("name",))
        for key in allowed:
            if key != "tags":
                self._text_of(members, key, path, "metadata")
        for tag, at in self._items(members.get("tags", []), (*path, "tags"), "tags"):
            if not isinstance(tag, str):
                self.complain(at, "a tag must be text", quote(tag), "a string")
        name = members.get("name")
        if isinstance(name, str) and self._label(name, (*path, "name"), "game", False):
            self.draft.title = name
        description = members.get("description")
        self.draft.description = description if isinstance(description, str) else None

    def _players(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "players", ("count", "roles", "dynamic_roles"), ("roles",))
        self._count(members, path)
        if self._flag(members, "dynamic_roles", path, "players"):
            self._has_dynamic_roles = True
            self.refuse((*path, "dynamic_roles"), "roles that are made while playing (dynamic_roles)", language.SIDES)
        roles = list(self._items(members.get("roles", []), (*path, "roles"), "roles"))
        if len(roles) != 2 and isinstance(members.get("roles"), list | tuple):
            many = "one role" if len(roles) == 1 else f"{len(roles)} roles"
            self.refuse((*path, "roles"), f"a game of {many}", language.SIDES)
        for role, at in roles:
            self._player(role, at)

    def _count(self, members: Mapping[str, Any], path: Path) -> None:
        count = members.get("count", 2)
        path = (*path, "count")
        limits = self._object(count, path, "count", ("min", "max")) if isinstance(count, Mapping) else {"": count}
        for key, limit in limits.items():
            at = (*path, key) if key else path
            if not isinstance(limit, int) or isinstance(limit, bool):
                self.complain(at, "the count of players must be a number", quote(limit), '2, or {"min": 2, "max": 2}')
            elif limit != 2:
                bound = {"min": "at least ", "max": "up to "}.get(key, "")
                self.refuse(at, f"{bound}{limit} player{'' if limit == 1 else 's'}", language.SIDES)

    def _player(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "a role", ("name", "attributes", "description"), ("name",))
        name = self._text_of(members, "name", path, "a role")
        self._text_of(members, "description", path, "a role")
        attributes: dict[str, Value] = {}
        for key, each, at in self._named(members.get("attributes", {}), (*path, "attributes"), "attributes"):
            if self._name(key, at, "attribute", ("name",)) and self._is_value(each, at, "an attribute of a player"):
                attributes[key] = each
                self.place(at)
        if name is None or not self._label(name, (*path, "name"), "player", False):
            return
        if any(name == player.name for player in self.draft.players):
            self.complain((*path, "name"), "two players have one name", quote(name), "a name for each")
            return
        self.draft.players.append(Player(name, attributes, self.place(path)))

    def _is_value(self, value: Any, path: Path, what: str) -> bool:
        if value is None or isinstance(value, str | int):
            return True
        self.complain(path, f"{what} must be a single value", quote(value), "text, a whole number, true, false, null")
        return False

    def _schemas(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "entity_schemas", ("types", "description"), ("types",))
        path = (*path, "types")
        found = False
        for name, each, at in self._named(members.get("types", {}), path, "types"):
            found = True
            if self._label(name, at, "type"):
                self._schema(name, each, at)
        if not found and isinstance(members.get("types"), Mapping):
            self.complain(path, "there is no type of entities", None, '"Piece": {"attributes": {...}}')

    def _schema(self, name: str, value: Any, path: Path) -> None:
        members = self._object(value, path, f"the type {name}", ("attributes", "description"), ("attributes",))
        attributes: dict[str, Attribute] = {}
        for key, each, at in self._named(members.get("attributes", {}), (*path, "attributes"), "attributes"):
            if key in language.REFUSED_KEYS:
                self.refuse(at, f"the attribute {key}", language.REFUSED_KEYS[key], True)
            elif self._name(key, at, "attribute", ("schema", "pos")):
                declared = self._declared(each, at, f"the attribute {key}", "default")
                if declared is not None:
                    attributes[key] = Attribute(key, *declared, self.place(at))
        owner = attributes.get("owner")
        if owner is None and isinstance(members.get("attributes"), Mapping):
            if "owner" not in members["attributes"]:
                self.refuse(
                    path,
                    f"entities of type {name} have no owner",
                    'each piece belongs to a side: give the type "owner": {"type": "player_ref"}',
                    True,
                )
        elif owner is not None and owner.type != "player_ref":
            self.complain(
                (*path, "attributes", "owner", "type"), "owner must be a player", quote(owner.type), "player_ref"
            )
        self.draft.schemas[name] = Schema(name, attributes, self.place(path))

    def _declared(
        self, value: Any, path: Path, what: str, key: str
    ) -> tuple[str, Value, tuple[Value, ...] | None] | None:
        """Type, first value and domain of an attribute (`key` is default) or a variable (`key` is initial)."""
        members = self._object(value, path, what, ("type", key, "values", "min", "max", "description"), ())
        if not isinstance(value, Mapping):
            return None
        if "type" not in members:
            if not any(name in language.REFUSED_KEYS for name in value):
                self.complain(path, f"{what} lacks type", None, ", ".join(TYPES))
            return None
        kind = self._text_of(members, "type", path, what)
        if kind is None:
            return None
        if kind not in TYPES:
            self._unknown_type(kind, (*path, "type"), what)
            return None
        first = self._typed(members[key], (*path, key), kind, what) if key in members else None
        values = self._values(members, path, kind, what)
        if values is not None and (key in members or kind != "string"):
            known = any(first == each and type(first) is type(each) for each in values)
            if key in members and not known:
                self.complain((*path, key), f"{key} of {what} is not one of its values", quote(first), _texts(values))
        return kind, first, values

    def _unknown_type(self, kind: str, path: Path, what: str) -> None:
        if kind.endswith("_list") or kind.startswith(("list", "set", "stack", "array")):
            reason = language.HIDDEN if "visib" in what else "an attribute or variable has one value of a few"
            self.refuse(path, f"{what} is a list ({kind})", reason)
            return
        near = closest(kind, TYPES)
        self.complain(
            path,
            f"there is no type {quote(kind)}" + (f": did you mean {near}?" if near else ""),
            None,
            ", ".join(TYPES),
        )

    def _typed(self, value: Any, path: Path, kind: str, what: str) -> Value:
        """A value of JSON as one of a type; a player is known by name."""
        if value is None:
            return None
        if kind == "player_ref":
            return self._player_value(value, path, what)
        if isinstance(value, str | int) and type(value) is {"string": str, "int": int, "bool": bool}[kind]:
            return value
        allowed = {"string": "a string", "int": "a whole number", "bool": "true, false"}[kind]
        self.complain(path, f"{what} is of type {kind}", quote(value), f"{allowed}, null")
        return None

    def _player_value(self, value: Any, path: Path, what: str) -> str | None:
        if not isinstance(value, str):
            self.complain(path, f"{what} must be a player", quote(value), "\"player('Name')\", null")
            return None
        clause = self._clause(value, path, what)
        if clause is None:
            return None
        match clause.expression:
            case Literal(None):
                return None
            case Call("player", (Literal(str(name), at),)):
                known = [player.name for player in self.draft.players]
                if name in known or not known or self._has_dynamic_roles:
                    return name
                near = closest(name, known)
                message = f"there is no player {quote(name)}" + (f": did you mean {quote(near)}?" if near else "")
                complaint = Complaint(path, message, None, ", ".join(map(quote, known)), expression=value, at=at)
            case _:
                message = f"{what} must be a player"
                complaint = Complaint(path, message, None, "player('Name'), null", expression=value, at=0)
        self.add(complaint)
        return None

    def _values(self, members: Mapping[str, Any], path: Path, kind: str, what: str) -> tuple[Value, ...] | None:
        for key in ("values", "min", "max"):
            fits = kind == "int" or (kind == "string" and key == "values")
            if key in members and not fits:
                self.complain((*path, key), f"{what} is of type {kind}, which has no {key}", None, None, True)
                return None
        if "values" in members and ("min" in members or "max" in members):
            self.complain((*path, "values"), f"{what} has values and limits", None, "one of them", True)
            return None
        if "values" in members:
            found: list[Value] = []
            for each, at in self._items(members["values"], (*path, "values"), "values"):
                value = self._typed(each, at, kind, what)
                if value is None and each is not None:
                    continue
                if value in found:
                    self.complain(at, "the value stands twice", quote(each), "each value once")
                else:
                    found.append(value)
            if len(found) > MAX_VALUES:
                self.complain((*path, "values"), "there are too many values", f"{len(found)}", f"at most {MAX_VALUES}")
                return None
            if members["values"] == []:
                self.complain((*path, "values"), "there are no values", "[]", "one value or more")
            return tuple(found) or None
        if "min" not in members and "max" not in members:
            return None
        limits = []
        for key in ("min", "max"):
            if key not in members:
                self.complain(path, f"{what} has one limit alone", None, "min and max", True)
                return None
            limit = members[key]
            if type(limit) is not int:
                self.complain((*path, key), f"{key} of {what} must be a number", quote(limit), "a whole number")
                return None
            limits.append(limit)
        low, high = limits
        if low > high:
            self.complain((*path, "max"), f"max of {what} is less than its min", quote(high), f"{low} or more")
            return None
        if high - low >= MAX_VALUES:
            self.complain((*path, "max"), "there are too many values", f"{high - low + 1:,}", f"at most {MAX_VALUES}")
            return None
        return tuple(range(low, high + 1))

    def _topology(self, value: Any, path: Path) -> None:
        if not isinstance(value, Mapping):
            self.complain(path, "topology must be an object", quote(value), "{ ... }")
            return
        kind = value.get("type")
        if kind == "zones":
            self._zones(value, path)
        elif kind == "network":
            self._network(value, path)
        elif kind == "discrete":
            self._discrete(value, path)
        elif kind in ("track", "tracks"):
            self.refuse((*path, "type"), "a track", "boards are grids, hexagonal grids and networks")
        elif kind is None:
            self.complain(path, "topology lacks type", None, "discrete, network")
        else:
            kinds = ("discrete", "network")
            near = closest(kind, kinds) if isinstance(kind, str) else None
            self.complain(
                (*path, "type"),
                f"there is no topology {quote(kind)}" + (f": did you mean {near}?" if near else ""),
                None,
                ", ".join(kinds),
            )

    def _zones(self, value: Mapping[str, Any], path: Path) -> None:
        self.refuse((*path, "type"), "a topology of zones", language.CARDS)
        members = self._object(value, path, "topology", ("type", "zones", "description"), ("zones",))
        for name, zone, at in self._named(members.get("zones", {}), (*path, "zones"), "zones"):
            if not isinstance(zone, Mapping):
                self.complain(at, f"the zone {name} must be an object", quote(zone), "{ ... }")
                continue
            if zone.get("visible") is False or zone.get("visibility", "all") != "all":
                key = "visible" if zone.get("visible") is False else "visibility"
                self.refuse((*at, key), f"the zone {name} is hidden", language.HIDDEN)
            if zone.get("shuffle"):
                self.refuse((*at, "shuffle"), f"the zone {name} is shuffled", language.RANDOM)

    def _discrete(self, value: Mapping[str, Any], path: Path) -> None:
        keys = ("type", "structure", "coordinate_system", "description")
        members = self._object(value, path, "topology", keys, ("structure",))
        structure = self._text_of(members, "structure", path, "topology")
        if structure is None:
            return
        at = (*path, "structure")
        match = _STRUCTURE.fullmatch(structure)
        wanted = "grid(WIDTH, HEIGHT), hex_grid(WIDTH, HEIGHT)"
        if match is None or match[1] not in ("grid", "hex_grid"):
            name = structure.split("(")[0].strip()
            near = closest(name, ("grid", "hex_grid")) if name not in ("grid", "hex_grid") else None
            hint = f": did you mean {near}?" if near else ""
            self.complain(at, f"the structure of the board cannot be read{hint}", quote(structure), wanted)
            return
        width, height = (int(digits) if len(digits) < 6 else MAX_NODES + 1 for digits in (match[2], match[3]))
        if not width or not height or width * height > MAX_NODES:
            self.complain(at, "the board is of no possible size", quote(structure), f"1 to {MAX_NODES:,} places")
            return
        system = self._text_of(members, "coordinate_system", path, "topology")
        systems = ("axial",) if match[1] == "hex_grid" else ("cartesian",)
        if system is not None and system not in systems:
            self.complain(
                (*path, "coordinate_system"),
                f"the coordinates of {match[1]} are {systems[0]}",
                quote(system),
                systems[0],
            )
        self.draft.topology = (HexGrid if match[1] == "hex_grid" else Grid)(width, height)

    def _network(self, value: Mapping[str, Any], path: Path) -> None:
        keys = ("type", "nodes", "edges", "directed", "description")
        members = self._object(value, path, "topology", keys, ("nodes", "edges"))
        nodes: dict[str, dict[str, Value]] = {}
        for name, node, at in self._named(members.get("nodes", {}), (*path, "nodes"), "nodes"):
            if not self._label(name, at, "node") or name == "*":
                if name == "*":
                    self.complain(at, "* is the hand and no place", quote(name), "another name", True)
                continue
            nodes[name] = {}
            for key, each, inner in self._named(node, at, f"the node {name}"):
                is_named = self._name(key, inner, "attribute", ("name", "x", "y"))
                if is_named and self._is_value(each, inner, "an attribute of a node"):
                    nodes[name][key] = each
        if not nodes and isinstance(members.get("nodes"), Mapping):
            self.complain((*path, "nodes"), "there are no places", None, '"Name": {}')
        directed = self._flag(members, "directed", path, "topology")
        edges = []
        for each, at in self._items(members.get("edges", []), (*path, "edges"), "edges"):
            edge = self._edge(each, at, nodes, directed)
            if edge is not None:
                edges.append(edge)
        if nodes:
            self.draft.topology = Network(nodes, tuple(edges))

    def _edge(self, value: Any, path: Path, nodes: Mapping[str, Any], directed: bool) -> Edge | None:
        keys = ("from", "to", "kind", "type", "directed", "description")
        members = self._object(value, path, "an edge", keys, ("from", "to"))
        ends = []
        for key in ("from", "to"):
            name = self._text_of(members, key, path, "an edge")
            if name is None:
                continue
            if name not in nodes:
                near = closest(name, nodes)
                self.complain(
                    (*path, key),
                    f"there is no node {quote(name)}" + (f": did you mean {quote(near)}?" if near else ""),
                    None,
                    offer([*nodes]),
                )
            else:
                ends.append(name)
        kind = self._text_of(members, "kind", path, "an edge") or self._text_of(members, "type", path, "an edge")
        if "directed" in members:
            directed = self._flag(members, "directed", path, "an edge")
        return Edge(ends[0], ends[1], kind, directed) if len(ends) == 2 else None

    def _state(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "state_schema", ("global", "per_player", "description"))
        for name, _, at in self._named(members.get("per_player", {}), (*path, "per_player"), "per_player"):
            self.refuse(at, f"the variable {name} of each player (per_player)", language.RESOURCES, True)
        for name, each, at in self._named(members.get("global", {}), (*path, "global"), "global"):
            if not self._name(name, at, "variable", ("phase",)):
                continue
            what = f"the variable {name}"
            declared = self._declared(each, at, what, "initial")
            if declared is None:
                continue
            if name == "current_player" and declared[0] != "player_ref":
                self.complain((*at, "type"), "current_player is a player", quote(declared[0]), "player_ref")
                continue
            if name == "current_player":
                first = declared[1]
                if first is None and self.draft.players:
                    first = self.draft.players[0].name
                self.draft.first_player = first if isinstance(first, str) else None
            self.draft.variables[name] = Variable(name, *declared, self.place(at))

    def _setup(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "setup", ("steps", "description"), ("steps",))
        taken: dict[Node, Path] = {}
        for step, at in self._items(members.get("steps", []), (*path, "steps"), "steps"):
            if not isinstance(step, Mapping):
                self.complain(at, "a step of the setup must be an object", quote(step), "{ ... }")
                continue
            action = step.get("action")
            if action == "spawn_entity":
                self._spawn(step, at, taken)
            elif isinstance(action, str) and action in language.REFUSED_STEPS:
                self.refuse((*at, "action"), f"the step {action}", language.REFUSED_STEPS[action])
            elif action is None:
                self.complain(at, "a step of the setup lacks action", None, '"action": "spawn_entity"')
            else:
                self.complain((*at, "action"), "there is no such step of a setup", quote(action), "spawn_entity")

    def _spawn(self, step: Mapping[str, Any], path: Path, taken: dict[Node, Path]) -> None:
        keys = ("action", "schema", "count", "set_attributes", "at", "description")
        members = self._object(step, path, "spawn_entity", keys, ("schema", "at"))
        name = self._text_of(members, "schema", path, "spawn_entity")
        schema = None if name is None else self.draft.schemas.get(name)
        if name is not None and schema is None and self.draft.schemas:
            near = closest(name, self.draft.schemas)
            hint = f": did you mean {near}?" if near else ""
            self.complain(
                (*path, "schema"), f"there is no type {quote(name)}{hint}", None, offer([*self.draft.schemas])
            )
        attributes = self._attributes(members, path, schema)
        nodes: list[Node] = []
        is_whole = True
        for each, at in self._items(members.get("at", []), (*path, "at"), "at"):
            found = self._nodes(each, at)
            is_whole = is_whole and found is not None
            for node in found or ():
                if node in taken:
                    self.complain(at, f"{label(node)} is taken already, at {pointer(taken[node])}", quote(each))
                else:
                    taken[node] = at
                    nodes.append(node)
        count = members.get("count")
        if "count" in members and type(count) is not int:
            self.complain((*path, "count"), "count must be a number", quote(count), "a whole number")
        elif "count" in members and is_whole and count != len(nodes):
            message = f"count is {count}, but `at` names {len(nodes)} places"
            self.complain((*path, "count"), message, None, f"{len(nodes)}, or no count")
        if schema is not None:
            self.draft.setup.append(Placement(schema.name, attributes, tuple(nodes), self.place(path)))

    def _attributes(self, members: Mapping[str, Any], path: Path, schema: Schema | None) -> dict[str, Value]:
        attributes: dict[str, Value] = {}
        if schema is not None:
            attributes = {name: each.default for name, each in schema.attributes.items()}
        inner = (*path, "set_attributes")
        for name, value, at in self._named(members.get("set_attributes", {}), inner, "set_attributes"):
            if schema is None:
                continue
            declared = schema.attributes.get(name)
            if declared is None:
                near = closest(name, schema.attributes)
                hint = f": did you mean {near}?" if near else ""
                self.complain(
                    at, f"{schema.name} has no attribute {quote(name)}{hint}", None, offer([*schema.attributes]), True
                )
                continue
            found = self._typed(value, at, declared.type, f"the attribute {name}")
            if declared.values is not None and found not in declared.values and (found is not None or value is None):
                self.complain(at, f"the attribute {name} has no such value", quote(value), _texts(declared.values))
            attributes[name] = found
        if schema is not None and "owner" in schema.attributes and attributes.get("owner") is None:
            given = members.get("set_attributes")
            if not (isinstance(given, Mapping) and given.get("owner") is not None):
                self.complain(
                    path, "these entities have no owner", None, '"set_attributes": {"owner": "player(\'...\')"}'
                )
        return attributes

    def _nodes(self, value: Any, path: Path) -> list[Node] | None:
        """The places that an expression of `at` names, None where it cannot be told."""
        clause = self._clause(value, path, "a place of the setup")
        if clause is None:
            return None

        def wrong(message: str, at: int, allowed: str | None = None, code: str = "invalid") -> None:
            self.add(Complaint(path, message, None, allowed, False, clause.text, at, code))

        board = self.draft.topology
        match clause.expression:
            case Call(name="zone", at=at):
                wrong(f"the zone {_inner(clause.expression)} is filled: {language.CARDS}", at, code="refused")
            case Call(name="grid_nodes" | "hex_nodes" as name, arguments=arguments, at=at):
                numbers = [each.value for each in arguments if isinstance(each, Literal) and type(each.value) is int]
                wanted = "hex_nodes" if isinstance(board, HexGrid) else "grid_nodes"
                if len(numbers) != 4 or len(arguments) != 4:
                    wrong(f"{name} takes four numbers", at, f"{name}(x1,y1, x2,y2)")
                elif isinstance(board, Network):
                    wrong(f"a network has no {name}", at, "node('Name')")
                elif board is not None and name != wanted:
                    wrong(f"this board has {wanted}", at, f"{wanted}(x1,y1, x2,y2)")
                elif board is not None:
                    x1, y1, x2, y2 = numbers
                    if not (0 <= x1 <= x2 < board.width and 0 <= y1 <= y2 < board.height):
                        limit = f"0,0 to {board.width - 1},{board.height - 1}, the smaller ones first"
                        wrong("the places are not on the board", at, limit)
                    else:
                        return [(x, y) for y in range(y1, y2 + 1) for x in range(x1, x2 + 1)]
            case Call(name="node", arguments=arguments, at=at):
                return None if board is None else self._node(board, arguments, at, wrong)
            case Call(name=name, at=at) | Name(text=name, at=at):
                near = closest(name, ("grid_nodes", "hex_nodes", "node"))
                hint = f": did you mean {near}?" if near and near != name else ""
                wrong(f"this names no places{hint}", at, "grid_nodes(x1,y1, x2,y2), hex_nodes(...), node('Name')")
            case other:
                at = expressions.start_of(other)
                wrong("this names no places", at, "grid_nodes(x1,y1, x2,y2), hex_nodes(...), node('Name')")
        return None

    def _node(
        self, board: Topology, arguments: tuple[Expression, ...], at: int, wrong: Callable[..., None]
    ) -> list[Node] | None:
        match arguments:
            case (Literal(value=str(name), at=at),):
                by_label = {label(node): node for node in board.nodes()}
                if name in by_label:
                    return [by_label[name]]
                near = closest(name, by_label)
                hint = f": did you mean {quote(near)}?" if near else ""
                wrong(f"there is no place {quote(name)}{hint}", at, offer([*by_label]))
            case (Literal(value=int(x)), Literal(value=int(y))) if isinstance(board, Grid):
                if 0 <= x < board.width and 0 <= y < board.height:
                    return [(x, y)]
                wrong("the place is not on the board", at, f"0,0 to {board.width - 1},{board.height - 1}")
            case _:
                wrong("node takes a name, or on a grid x and y", at, "node('Name'), node(x, y)")
        return None

    def _interactions(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "interactions", ("list", "description"), ("list",))
        path = (*path, "list")
        for name, action, at in self._named(members.get("list", {}), path, "list"):
            if self._label(name, at, "action"):
                self._action(name, action, at)
        if members.get("list") == {}:
            self.complain(path, "there is no action", "{}", '"move": {"conditions": [...], "effects": [...]}')

    def _action(self, name: str, value: Any, path: Path) -> None:
        keys = ("conditions", "effects", "chainable", "end_turn", "description")
        what = f"the action {name}"
        members = self._object(value, path, what, keys, ("conditions", "effects"))
        if not isinstance(value, Mapping):
            return
        self._text_of(members, "description", path, what)
        clauses: dict[str, list[Clause]] = {"conditions": [], "effects": []}
        for key, found in clauses.items():
            for each, at in self._items(members.get(key, []), (*path, key), key):
                clause = self._clause(each, at, "a condition" if key == "conditions" else "an effect")
                if clause is not None:
                    found.append(clause)
        if not self._flag({"end_turn": True, **members}, "end_turn", path, what) and members.get("end_turn") is False:
            self.complain(
                (*path, "end_turn"),
                "an effect says that the turn does not end",
                "false",
                '"set(state.current_player, entity.owner)" among the effects',
            )
        chainable = self._flag(members, "chainable", path, what)
        conditions, effects = tuple(clauses["conditions"]), tuple(clauses["effects"])
        self.draft.actions.append(Action(name, conditions, effects, chainable, self.place(path)))

    def _flow(self, value: Any, path: Path) -> None:
        keys = ("time_model", "phases", "initial_phase", "description")
        members = self._object(value, path, "game_flow", keys, ("phases",))
        model = self._text_of(members, "time_model", path, "game_flow")
        if model is not None and model != "turn_based":
            self.refuse((*path, "time_model"), f"the time model {quote(model)}", "sides move in turn: turn_based")
        phases = self.draft.phases
        for name, phase, at in self._named(members.get("phases", {}), (*path, "phases"), "phases"):
            if self._label(name, at, "phase"):
                self._phase(name, phase, at)
        if members.get("phases") == {}:
            self.complain((*path, "phases"), "there is no phase", "{}", '"main": {"allowed_actions": [...]}')
        initial = self._text_of(members, "initial_phase", path, "game_flow")
        names = [phase.name for phase in phases]
        if initial is None and "initial_phase" not in members and len(phases) > 1:
            self.complain(path, "game_flow lacks initial_phase", None, ", ".join(map(quote, names)))
        if initial is not None and initial not in names and names:
            near = closest(initial, names)
            hint = f": did you mean {quote(near)}?" if near else ""
            self.complain(
                (*path, "initial_phase"), f"there is no phase {quote(initial)}{hint}", None, offer([*map(quote, names)])
            )
        self.draft.initial_phase = initial or (names[0] if names else None)

    def _phase(self, name: str, value: Any, path: Path) -> None:
        what = f"the phase {name}"
        members = self._object(value, path, what, ("actors", "allowed_actions", "description"), ("allowed_actions",))
        actors = self._text_of(members, "actors", path, what) or "current_player"
        if actors != "current_player":
            self.refuse(
                (*path, "actors"), f"actors {quote(actors)} of {what}", "the side to move acts alone: current_player"
            )
        known = [action.name for action in self.draft.actions]
        allowed: list[str] = []
        actions = (*path, "allowed_actions")
        for each, at in self._items(members.get("allowed_actions", []), actions, "allowed_actions"):
            if not isinstance(each, str):
                self.complain(at, "the name of an action must be text", quote(each), "a string")
            elif each in allowed:
                self.complain(at, f"the action {quote(each)} stands twice", None, "each action once")
            elif each not in known:
                near = closest(each, known)
                hint = f": did you mean {quote(near)}?" if near else ""
                self.complain(at, f"there is no action {quote(each)}{hint}", None, offer(known) or None)
            else:
                allowed.append(each)
        self.draft.phases.append(Phase(name, tuple(allowed), actors, self.place(path)))

    def _ends(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "end_conditions", ("conditions", "description"), ("conditions",))
        for each, at in self._items(members.get("conditions", []), (*path, "conditions"), "conditions"):
            keys = ("type", "for", "condition", "description")
            ending = self._object(each, at, "an end condition", keys, ("type", "condition"))
            kind = self._text_of(ending, "type", at, "an end condition")
            who = self._clause(ending["for"], (*at, "for"), "for") if "for" in ending else None
            if "condition" in ending:
                condition = self._clause(ending["condition"], (*at, "condition"), "an end condition")
                if condition is not None and kind is not None:
                    self.draft.end_conditions.append(EndCondition(kind, who, condition, self.place(at)))

    def _presentation(self, value: Any, path: Path) -> None:
        members = self._object(value, path, "presentation", ("profiles", "description"), ("profiles",))
        for name, each, at in self._named(members.get("profiles", {}), (*path, "profiles"), "profiles"):
            keys = ("entity_assets", "topology_assets", "description")
            profile = self._object(each, at, f"the profile {name}", keys)
            assets = []
            for asset, inner in self._items(profile.get("entity_assets", []), (*at, "entity_assets"), "entity_assets"):
                found = self._object(asset, inner, "an asset", ("conditions", "asset"), ("conditions", "asset"))
                text = self._text_of(found, "asset", inner, "an asset")
                if "conditions" in found:
                    condition = self._clause(found["conditions"], (*inner, "conditions"), "the condition of an asset")
                    if condition is not None and text is not None:
                        assets.append(Asset(condition, text, self.place(inner)))
            for key, asset, inner in self._named(
                profile.get("topology_assets", {}), (*at, "topology_assets"), "topology_assets"
            ):
                if not isinstance(asset, str):
                    self.complain(inner, f"the asset {key} must be text", quote(asset), "a string")
            self.draft.assets.append(Profile(name, tuple(assets), self.place(at)))


def _section(path: Path) -> str | None:
    return str(path[0]) if path else None


def _action(path: Path) -> str | None:
    return str(path[2]) if len(path) > 2 and path[:2] == ("interactions", "list") else None


def _texts(values: Collection[Value]) -> str:
    return offer([quote(value) for value in values])


def _inner(expression: Expression) -> str:
    match expression:
        case Call(arguments=(Literal(value=str(text)),)):
            return quote(text)
    return "that is named"


def _inside(text: str, at: int, wanted: int) -> int:
    """The offset of a character of the JSON string that begins at `at`, escapes reckoned in."""
    if text[at : at + 1] != '"':
        return at
    at += 1
    for _ in range(wanted):
        if at >= len(text) or text[at] == '"':
            break
        if text[at] == "\\":
            is_pair = re.match(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}", text[at : at + 12])
            at += 12 if is_pair else 6 if text[at + 1 : at + 2] == "u" else 2
        else:
            at += 1
    return at
