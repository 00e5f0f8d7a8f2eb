"""Addresses of stores, and the databases that they lead to."""

from __future__ import annotations

import re

from sqlalchemy import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from ggn_store.errors import UNSTORABLE, GgnStoreError, StoreError, quote
from ggn_store.store.engine import Database
from ggn_store.store.postgres import Postgres
from ggn_store.store.sqlite import SQLite

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+]+:")
_FORMS = "sqlite:///file.db, a file's name, or postgresql://user@host/database"


def connect(address: str) -> Database:
    """The database at `address`: a SQLAlchemy URL of SQLite or Postgres, or the name of a SQLite file.

    Nothing is opened yet. Raises StoreError for an address that is neither.
    """
    if not address or UNSTORABLE.search(address) or ("://" not in address and _SCHEME.match(address)):
        raise StoreError(f"this is not the address of a store: write {_FORMS}")
    # What SQLAlchemy says of a malformed address may quote the password: it is not passed on.
    try:
        url = make_url(address) if "://" in address else URL.create("sqlite", database=address)
        if "@" in (url.host or ""):
            raise StoreError("the address of the store has an @ too many: in a user or password, write @ as %40")
        match url.get_backend_name():
            case "sqlite":
                if url.host or (url.query and "uri" not in url.query):
                    raise StoreError(f"this is not the address of a SQLite file: write {_FORMS}")
                return SQLite(url.set(drivername="sqlite"))
            case "postgres" | "postgresql":
                # The one driver that is installed with the package, however the address names it.
                return Postgres(url.set(drivername="postgresql+psycopg"))
            case name:
                raise StoreError(f"{quote(name)} is not a database that can hold a store: write {_FORMS}")
    except (SQLAlchemyError, TypeError, ValueError) as error:
        if isinstance(error, GgnStoreError):
            raise
        raise StoreError(f"this is not the address of a store: write {_FORMS}") from None
