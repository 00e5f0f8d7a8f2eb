"""A query on Postgres, prepared, and refused for what the server has resolved it to: nothing of it has run before.

The server prints the tree of what it prepares as a notice (`debug_print_parse`), with the OID of each function,
operator, type and relation. What it will look at later comes from its catalogs: the rules of views, and the
expressions that planning evaluates (indexes, statistics, policies, generated columns).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ggn_store.resources import sql
from ggn_store.store.sql.parse_tree import BUILT_IN, Refused, UsedObjects, read, unwrapped

NAME: Final = b"ggn_sql"

_PRINT: Final = """
SET LOCAL client_min_messages = log; SET LOCAL debug_pretty_print = off; SET LOCAL debug_print_parse = on
"""
_PRINT_NO_MORE: Final = "SET LOCAL debug_print_parse = off"
_TREE: Final = "parse tree:"

_NAME_BYTES: Final = 63  # Postgres cuts names off


class NotAllowed(Exception):  # noqa: N818
    """What a query uses and may not: what kind of thing, in words, where in the text, and its name."""

    def __init__(self, kind: str, message: str, position: int | None = None, name: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.position, self.name = kind, message, position, name


@dataclass(frozen=True, slots=True)
class Allowed:
    """The names of what a query may use: functions and types are those of pg_catalog, tables those of the store."""

    functions: Collection[str]
    types: Collection[str]
    tables: Collection[str]


@dataclass(frozen=True, slots=True)
class _Thing:
    """What an OID stands for; `row_of` is the relation that a type is a row of, or 0."""

    name: str
    is_allowed: bool
    row_of: int = 0


def prepare(
    cursor: Any, query: str, words: Iterable[str], types: Sequence[int], allowed: Allowed, after: Sequence[str]
) -> None:
    """Prepare a query as NAME in the transaction that is open; raises NotAllowed where it uses what is not allowed.

    Each statement sees what others have committed: the catalogs are read when what the query names is locked. `words`
    are the names in the query, and perhaps others; `after` are statements to be run when it has been printed.
    """
    own = _before(cursor, query, words, allowed)
    tree = _parse(cursor, query, types, after)
    uses = UsedObjects()
    try:
        read(unwrapped(tree), uses)
    except Refused as refused:
        raise NotAllowed("refused", str(refused)) from None
    _Decision(cursor, query, allowed, own).decide(uses)


def _before(cursor: Any, query: str, words: Iterable[str], allowed: Allowed) -> set[int]:
    """The OIDs of the store's relations; raises NotAllowed where to parse the query could be to run something."""
    cut = {word.encode()[:_NAME_BYTES].decode("utf-8", "ignore").lower() for word in words}
    own = set()
    for kind, schema, name, is_visible, oid in _rows(cursor, "resolved_before", list(allowed.tables)):
        if kind == "own":
            own.add(oid)
        elif (name in query if kind == "operator" else name.lower() in cut) and (is_visible or schema.lower() in cut):
            raise _refusal(kind, f"{schema}.{name}", None)
    return own


def _rows(cursor: Any, name: str, *values: Any) -> list[Any]:
    """What the catalogs say to the question of this name."""
    from psycopg import errors

    try:
        rows: list[Any] = cursor.execute(sql(__package__, name), values).fetchall()
    except errors.InsufficientPrivilege as error:
        raise NotAllowed("store", f"it does not tell what a query uses: {error.diag.message_primary}") from None
    return rows


def _parse(cursor: Any, query: str, types: Sequence[int], after: Sequence[str]) -> str:
    """Have the server parse and resolve the query; the tree that it prints."""
    from psycopg import errors, pq

    connection = cursor.connection
    trees: list[str] = []

    def listen(notice: Any) -> None:
        if notice.message_primary == _TREE:
            trees.append(notice.message_detail or "")

    cursor.execute(_PRINT)
    connection.add_notice_handler(listen)
    result = connection.pgconn.prepare(NAME, query.encode(), types)
    connection.remove_notice_handler(listen)
    if result.status != pq.ExecStatus.COMMAND_OK:
        raise errors.error_from_result(result)
    cursor.execute("; ".join([_PRINT_NO_MORE, *after]))
    if len(trees) != 1:
        raise NotAllowed("store", "this server does not tell what it has resolved a query to")
    return trees[0]


class _Decision:
    """Whether what a query uses is allowed, with what its views use."""

    def __init__(self, cursor: Any, query: str, allowed: Allowed, own: set[int]) -> None:
        self._cursor, self._query, self._allowed, self._own = cursor, query, allowed, own
        self._uses = UsedObjects()  # of views, tables and their columns
        self._users: dict[tuple[str, int], str] = {}
        self._relations: dict[int, _Thing] = {}

    def decide(self, uses: UsedObjects) -> None:
        """Raise NotAllowed for the first of what is not allowed: functions first, types last."""
        while True:
            things = self._names(uses)
            relations = {*uses.oids("relation"), *self._uses.oids("relation")}
            relations |= {thing.row_of for thing in things.values() if thing.row_of}
            if not relations - self._relations.keys():
                break
            self._look_up(relations - self._relations.keys())
        things |= {("relation", oid): thing for oid, thing in self._relations.items()}
        for kind in ("function", "cast", "relation", "operator", "family", "type"):
            for oid in dict.fromkeys(uses.oids(kind) + self._uses.oids(kind)):
                thing = things.get((kind, oid), _Thing(f"of OID {oid}", is_allowed=False))
                is_row = thing.row_of in self._own and self._relations[thing.row_of].is_allowed
                if not thing.is_allowed and not is_row:
                    raise _refusal(kind, thing.name, self._place(uses, kind, oid), self._users.get((kind, oid)))

    def _look_up(self, oids: Collection[int]) -> None:
        """Read what relations are, and add what they use."""
        self._relations |= {oid: _Thing(f"of OID {oid}", is_allowed=False) for oid in oids}
        for oid, schema, relation, is_plain, types, trees in _rows(self._cursor, "resolved_relations", list(oids)):
            if oid in self._relations and oid not in oids:
                continue
            is_own = is_plain and oid in self._own
            is_bare = is_own or schema == "pg_catalog"
            self._relations[oid] = _Thing(relation if is_bare else f"{schema}.{relation}", is_own)
            found = UsedObjects()
            for each in types:
                found.add("type", each, None)
            found.add("relation", oid, None)
            if is_own:
                try:
                    for tree in trees:
                        read(tree or "", found)
                except Refused as refused:
                    raise NotAllowed("refused", f"in {relation}: {refused}") from None
            for used in found.found:
                self._uses.add(*used, None)
                self._users.setdefault(used, relation)

    def _names(self, uses: UsedObjects) -> dict[tuple[str, int], _Thing]:
        """What functions, operators and types are called, and whether they are allowed."""

        def oids(*kinds: str) -> list[int]:
            return uses.oids(*kinds) + self._uses.oids(*kinds)

        things = {("family", oid): _Thing(f"of OID {oid}", oid < BUILT_IN) for oid in oids("family")}
        asked = oids("function", "cast"), oids("operator"), oids("type")
        for kind, oid, schema, name, is_sound, is_known, row_of in _rows(self._cursor, "resolved_names", *asked):
            is_built_in = is_sound and oid < BUILT_IN
            shown = name if schema == "pg_catalog" and oid < BUILT_IN else f"{schema}.{name}"
            if kind == "function":
                is_listed = is_built_in and name in self._allowed.functions
                things["function", oid] = _Thing(shown, is_listed)
                things["cast", oid] = _Thing(shown, is_listed or (is_built_in and is_known))
            elif kind == "operator":
                things[kind, oid] = _Thing(shown, is_built_in)
            else:
                is_listed = is_built_in and is_known and name in self._allowed.types
                things[kind, oid] = _Thing(shown, is_listed, row_of if is_sound else 0)
        return things

    def _place(self, uses: UsedObjects, kind: str, oid: int) -> int | None:
        at = uses.found.get((kind, oid))
        return None if at is None else len(self._query.encode()[:at].decode("utf-8", "ignore"))


def _refusal(kind: str, name: str, position: int | None, user: str | None = None) -> NotAllowed:
    via = "" if user is None or name.endswith(user) else f", which {user} uses,"
    if kind == "relation":
        return NotAllowed("table", f"{name}{via} is not a table or view that a query may ask", position, name)
    if kind in ("function", "cast"):
        said = f"the function {name}{via} is not among those that a query may call"
        return NotAllowed("call", said, position, name)
    word = "operator family" if kind == "family" else kind
    return NotAllowed("use", f"the {word} {name}{via} is not among those that a query may use", position)
