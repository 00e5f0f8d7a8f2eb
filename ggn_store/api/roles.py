"""Roles of a Postgres server in Python's words."""

from __future__ import annotations

from ggn_store.api.base import Section
from ggn_store.store.server import roles
from ggn_store.store.server.roles import Roles


class ServerRoles(Section):
    """Who may do what with a store on a Postgres server."""

    def roles(self) -> Roles:
        """Which roles of a Postgres server may do what with this store, and what deviates from `roles_script`."""
        roles.require_server(self._database)
        with self._tables.reading() as connection:
            return roles.find_roles(self._database, connection)

    def roles_script(self) -> str:
        """The SQL that `init_roles` runs, for whoever runs it by hand; to be run in one transaction."""
        roles.require_server(self._database)
        with self._tables.reading() as connection:
            return roles.script(connection)

    def init_roles(self) -> Roles:
        """Make ggn_reader, ggn_author and ggn_admin on a Postgres server, or bring them to this program's version."""
        roles.require_server(self._database)
        with self._tables.writing() as connection:
            roles.initialise(self._database, connection)
            return roles.find_roles(self._database, connection)
