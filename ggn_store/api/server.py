"""Roles of a Postgres server in Python's words."""

from __future__ import annotations

from dataclasses import dataclass

from ggn_store.store.database.session import Session
from ggn_store.store.server import roles
from ggn_store.store.server.roles import Roles as Roles


@dataclass(frozen=True, slots=True)
class Server:
    """`store.server`: who may do what with a store on a Postgres server."""

    _session: Session

    def roles(self) -> Roles:
        """Which roles of a Postgres server may do what with this store, and what deviates from `roles_script`."""
        roles.require_server(self._session.database)
        with self._session.reading() as connection:
            return roles.find_roles(self._session.database, connection)

    def roles_script(self) -> str:
        """The SQL that `init_roles` runs, for whoever runs it by hand; to be run in one transaction."""
        roles.require_server(self._session.database)
        with self._session.reading() as connection:
            return roles.script(connection)

    def init_roles(self) -> Roles:
        """Make ggn_reader, ggn_author and ggn_admin on a Postgres server, or bring them to this program's version."""
        roles.require_server(self._session.database)
        with self._session.writing() as connection:
            roles.initialise(self._session.database, connection)
            return roles.find_roles(self._session.database, connection)
