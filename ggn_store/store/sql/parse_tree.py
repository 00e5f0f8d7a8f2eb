"""What a query on Postgres uses by the tree that the server has made of it: functions, operators, types, relations.

The server writes a tree as text: `{NODE :field value ...}`, with lists in parentheses; in names, spaces and brackets
have a backslash before them. The fields are those of Postgres 14 to 18 (`primnodes.h`, `parsenodes.h`). Whatever is
not known here is refused: a node, and a number that may be the OID of something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

BUILT_IN: Final = 16384  # OIDs from here on are those of what users have made

_LINE: Final = 78  # bytes, at which the server breaks lines: at a space, or within a name that has none
# A field with a plain value at once, since most are such; else a bracket, or a word. Only these three are spaces.
_PART = re.compile(r":([A-Za-z_]+) (-?[0-9]+|true|false|<>)(?=[ \n\t)}])|[(){}]|(?:\\.|[^\\ \n\t(){}])+|\\", re.DOTALL)
_NUMBER = re.compile(r"-?[0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(re.split(r"[\s/]+", text.strip()))


# What only reads and calculates; after the slash, what Postgres 14 calls it.
_NODES: Final = _words(
    """
    ALIAS AGGREF ARRAYCOERCEEXPR ARRAYEXPR/ARRAY BOOLEANTEST BOOLEXPR CASEEXPR/CASE CASETESTEXPR CASEWHEN/WHEN
    COALESCEEXPR/COALESCE COERCETODOMAIN COERCEVIAIO COLLATEEXPR/COLLATE COMMONTABLEEXPR CONST CONVERTROWTYPEEXPR
    CTECYCLECLAUSE CTESEARCHCLAUSE DISTINCTEXPR FIELDSELECT FROMEXPR FUNCEXPR GROUPINGFUNC GROUPINGSET JOINEXPR
    JSONFORMAT JSONISPREDICATE MINMAXEXPR/MINMAX NAMEDARGEXPR NULLIFEXPR NULLTEST OPEXPR PARAM QUERY
    RANGETBLENTRY/RTE RANGETBLFUNCTION RANGETBLREF RELABELTYPE ROWCOMPAREEXPR/ROWCOMPARE ROWEXPR/ROW
    RTEPERMISSIONINFO SCALARARRAYOPEXPR SETOPERATIONSTMT SORTGROUPCLAUSE SQLVALUEFUNCTION SUBLINK SUBSCRIPTINGREF
    TABLESAMPLECLAUSE TARGETENTRY VAR WINDOWCLAUSE WINDOWFUNC
    """
)
# A node that is refused, in the words of SQL.
_WORDS: Final = {
    "JSONCONSTRUCTOREXPR": "a JSON constructor such as JSON_OBJECT",
    "JSONEXPR": "a JSON query function such as JSON_VALUE",
    "TABLEFUNC": "XMLTABLE or JSON_TABLE",
    "XMLEXPR": "an XML expression",
}

# What the numbers in fields are OIDs of.
_OIDS: Final = {
    name: kind
    for kind, names in {
        "function": "aggfnoid endInRangeFunc funcid startInRangeFunc tsmhandler winfnoid",
        "operator": "cycle_mark_neop eqop opno opnos sortop",
        "type": "aggargtypes aggtype array_typeid casetype coalescetype colTypes coltypes consttype ctecoltypes"
        " cycle_mark_type element_typeid funccoltypes funcresulttype minmaxtype opresulttype paramtype"
        " refcontainertype refelemtype refrestype resulttype row_typeid type typeId vartype wintype",
        "relation": "relid",
        "family": "opfamilies",
    }.items()
    for name in names.split()
}
# Other numbers: counts, places, kinds; collations; what the planner fills in, and what repeats something else.
_NUMBERS: Final = _words(
    """
    aggcollid agglevelsup aggno aggsplit aggtransno aggtranstype argnumber array_collid booltesttype
    casecollid checkAsUser coalescecollid coerceformat coercionformat colCollations collOid collation colcollations
    commandType constcollid constlen constraintDeps consttypmod constvalue convertformat ctecolcollations ctelevelsup
    ctematerialized cterefcount cycle_mark_collation cycle_mark_typmod encoding enrtuples fieldnum format_type
    frameOptions funccolcollations funccolcount funccollid funcformat hashfuncid inRangeColl inputcollid inputcollids
    item_type joinmergedcols jointype kind limitOption list_end list_start location mergeTargetRelation minmaxcollid
    negfuncid nulltesttype op opcollid opfuncid override paramcollid paramid paramkind paramtypmod perminfoindex
    querySource rctype cmptype refcollid reftypmod relabelformat rellockmode requiredPerms resno resorigcol resorigtbl
    ressortgroupref resultRelation resultcollid resulttypmod row_format rtekind rtindex stmt_len stmt_location
    subLinkId subLinkType tleSortGroupRef typeMod typmod varattno varattnosyn varcollid varlevelsup varno varnosyn
    varreturningtype vartypmod wincollid winref
    """
)
# What a query has that only reads.
_READING: Final = {
    "commandType": ("1",),
    "hasForUpdate": ("false",),
    "hasModifyingCTE": ("false",),
    "rellockmode": ("0", "1"),
    "rtekind": ("0", "1", "2", "3", "4", "5", "6", "8", "9"),
    "utilityStmt": ("<>",),
}
_CASTS: Final = ("1", "2")  # the funcformat of a function that a cast calls, written or not
_SKIPPED: Final = _NUMBERS - _READING.keys() - {"constvalue", "funcformat", "location"}


class Refused(Exception):  # noqa: N818
    """What the tree says that is more than reading, or is not known here; in words."""

    def __init__(self, message: str = "the server describes this query in a way that is not known here") -> None:
        super().__init__(message)


@dataclass(slots=True)
class UsedObjects:
    """The OIDs of what a query uses, by kind, and where in its text (in bytes; None where the tree does not tell)."""

    found: dict[tuple[str, int], int | None] = field(default_factory=dict)

    def add(self, kind: str, oid: int, location: int | None) -> None:
        """Add one, unless it is there."""
        if self.found.get((kind, oid)) is None:
            self.found[kind, oid] = location

    def oids(self, *kinds: str) -> list[int]:
        """Those of some kinds, in the order of the tree."""
        return list(dict.fromkeys(oid for kind, oid in self.found if kind in kinds))


@dataclass(slots=True)
class _Node:
    name: str
    at: str = ""  # the field being read
    uses: list[tuple[str, int]] = field(default_factory=list)
    location: int | None = None
    is_cast: bool = False


_Stack = list[_Node | None]  # None is a list


def unwrapped(text: str) -> str:
    """The tree in a notice, whose lines the server has broken.

    Nobody can tell what a name was that is longer than a line: it is refused.
    """
    lines = text.split("\n")
    if any(len(line.encode()) >= _LINE and " " not in line[1:] for line in lines):
        raise Refused("a name in the query is too long: it has too many special characters")
    return " ".join(lines)


def read(text: str, uses: UsedObjects) -> None:
    """Add what a tree uses; raises Refused where it does more than read, or is not known."""
    parts = _PART.finditer(text)
    stack: _Stack = []
    for match in parts:
        part = match[0]
        node = stack[-1] if stack else None
        if part in ("{", "("):
            _open(part, node, parts, stack)
        elif not stack:
            raise Refused
        elif part in ("}", ")"):
            _close(part, stack.pop(), uses)
        elif node is None:
            _require_item(part)
        elif match[1] is None:
            _word(part, node, parts, stack)
        elif match[1] not in _SKIPPED:
            node.at = match[1]
            _value(node, match[2], parts, stack)
    if stack:
        raise Refused


def _close(part: str, node: _Node | None, uses: UsedObjects) -> None:
    """End a node, or a list; of a node, add what it uses."""
    if (node is None) != (part == ")"):
        raise Refused
    if node is not None:
        for kind, oid in node.uses:
            uses.add("cast" if kind == "function" and node.is_cast else kind, oid, node.location)


def _word(part: str, node: _Node, parts: Iterator[re.Match[str]], stack: _Stack) -> None:
    """A field that has no plain value, or a part of a value."""
    if part[0] == ":":
        # Whatever follows is the value, even where it looks like a field: a user's name may be `:funcid`.
        node.at = part[1:]
        _value(node, _next(parts), parts, stack)
    elif node.at != "constvalue" or not (part in ("[", "]") or _NUMBER.fullmatch(part)):
        raise Refused


def _next(parts: Iterator[re.Match[str]]) -> str:
    for match in parts:
        return match[0]
    raise Refused


def _open(part: str, node: _Node | None, parts: Iterator[re.Match[str]], stack: _Stack) -> None:
    """Begin a node or a list; a list of numbers is read to its end."""
    first = _next(parts)
    if part == "{":
        if first not in _NODES:
            raise Refused(f"{_WORDS.get(first, f'the node {first}')} is not among what a query may use")
        stack.append(_Node(first))
    elif first in ("o", "i", "b", "x"):
        while (number := _next(parts)) != ")":
            if first == "o":  # OIDs
                if node is None:
                    raise Refused
                _number(node, number)
    elif first != ")":
        stack.append(None)
        if first in ("{", "("):
            _open(first, None, parts, stack)
        else:
            _require_item(first)


def _require_item(part: str) -> None:
    """Raise Refused unless this is a name, a number, or nothing."""
    if part[0] not in '"<' and not _NUMBER.fullmatch(part):
        raise Refused


def _value(node: _Node, value: str, parts: Iterator[re.Match[str]], stack: _Stack) -> None:
    if value in ("{", "("):
        _open(value, node, parts, stack)
    elif value in ("}", ")"):
        raise Refused
    elif value not in _READING.get(node.at, (value,)):
        raise Refused("this would do more than read")
    elif node.at == "location":
        node.location = int(value) if _NUMBER.fullmatch(value) and value[0] != "-" else None
    elif node.at == "funcformat":
        node.is_cast = value in _CASTS
    elif value != "<>" and (node.at in _OIDS or _NUMBER.fullmatch(value)):
        _number(node, value)


def _number(node: _Node, value: str) -> None:
    if not _NUMBER.fullmatch(value):
        raise Refused
    kind = _OIDS.get(node.at)
    if value == "0" or node.at in _NUMBERS:
        return
    if kind is None:
        raise Refused(f"the server's field {node.at} of {node.name} is not known here")
    node.uses.append((kind, int(value)))
