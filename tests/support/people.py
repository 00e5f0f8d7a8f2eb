"""Whoever works with one store under a name of their own, and the small documents that they bring."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import Position, Store
from ggn_store.model.teams.policy import PositionSet
from ggn_store.model.teams.proposal import Proposal
from tests.support.postgres import Server

Json = dict[str, Any]


def moving(piece: str, source: str, *destinations: str) -> Json:
    """A piece that goes from one square to empty ones."""
    return {
        piece: {
            source: {
                each: [{"must": {each: "empty"}, "diff": {"board": {source: None, each: piece}}}]
                for each in destinations
            }
        }
    }


KNIGHT = moving("C:N", "b1", "c3")
WIDER = moving("C:N", "b1", "c3", "a3")
OTHER = moving("C:N", "b1", "a3")
ROOK = moving("C:R", "a1", "a2")
# Two findings of lint: the first entry can never hold, and nothing has rules for the queen that the rook becomes.
DOUBTFUL: Json = {
    "C:R": {
        "a1": {
            "a2": [{"must": {"a2": "empty", "a1": "empty"}, "diff": {"board": {"a1": None, "a2": "C:R"}}}],
            "a3": [{"must": {"a3": "empty"}, "diff": {"board": {"a1": None, "a3": "C:Q"}}}],
        }
    }
}
AT_B1 = PositionSet("openings", (Position({"b1": "C:N"}), Position({"b1": "C:N", "c3": "C:R"})))


@dataclass
class People:
    """Whoever works with one store; `admin` is the store of its owner."""

    admin: Store
    is_known: bool
    connect: Callable[[str], Store]
    stores: dict[str, Store] = field(default_factory=dict)

    def store(self, name: str) -> Store:
        if name not in self.stores:
            self.stores[name] = self.connect(name)
        return self.stores[name]

    def who(self, name: str) -> str:
        """The name that counts."""
        return self.store(name).session.database.role or name

    def load(self, name: str, document: Any, ruleset: str, **more: Any) -> Any:
        return self.store(name).load(document, ruleset, author=name, **more)

    def propose(self, name: str, document: Any, ruleset: str, **more: Any) -> Proposal:
        return self.store(name).reviews.propose(document, ruleset, author=name, **more)

    def approve(self, name: str, proposal: object, **more: Any) -> Proposal:
        return self.store(name).reviews.approve(str(proposal), author=name, **more)

    def reject(self, name: str, proposal: object, **more: Any) -> Proposal:
        return self.store(name).reviews.reject(str(proposal), author=name, **more)

    def withdraw(self, name: str, proposal: object, **more: Any) -> Proposal:
        return self.store(name).reviews.withdraw(str(proposal), author=name, **more)


@pytest.fixture
def people(request: pytest.FixtureRequest, store: Store, address: str) -> Iterator[People]:
    if address.startswith("sqlite"):
        found = People(store, False, lambda _: Store.open(address))
    else:
        server: Server = request.getfixturevalue("postgres_server")
        found = People(store, True, lambda name: connected(store, server, address, name, roles))
    roles: list[str] = []
    yield found
    for each in found.stores.values():
        each.close()
    for role in roles:
        drop_role(store, role)


def connected(store: Store, server: Server, address: str, name: str, roles: list[str]) -> Store:
    """The store as somebody sees it who connects by a name of this test alone."""
    role = f"{name}_{uuid.uuid4().hex[:8]}"
    create_role(store, role)
    roles.append(role)
    return Store.open(address.replace("postgresql://postgres@", f"postgresql://{role}@", 1))


def create_role(store: Store, role: str) -> None:
    """A user of Postgres who may read and add, and change nothing but whether a ruleset is hidden."""
    for statement in (
        f'CREATE ROLE "{role}" LOGIN',
        f'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO "{role}"',
        f'REVOKE INSERT ON audit FROM "{role}"',
        f'GRANT UPDATE (deleted_at) ON ruleset TO "{role}"',
        f'GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "{role}"',
    ):
        execute(store, statement)


def drop_role(store: Store, role: str) -> None:
    execute(store, f'DROP OWNED BY "{role}"')
    execute(store, f'DROP ROLE "{role}"')


def execute(store: Store, statement: str, **values: Any) -> None:
    with store.session.database.writing() as connection:
        connection.execute(text(statement), values)


def rows(store: Store, statement: str) -> list[Any]:
    with store.session.database.reading() as connection:
        return [tuple(row) for row in connection.execute(text(statement)).all()]
