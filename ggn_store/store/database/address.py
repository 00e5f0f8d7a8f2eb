"""Addresses of stores, and the databases that they lead to."""

from __future__ import annotations

import os
import re

from sqlalchemy import URL, make_url
from sqlalchemy.exc import SQLAlchemyError

from ggn_store.errors import UNSTORABLE, GgnStoreError, StoreError, quote
from ggn_store.passwords import secrets_in
from ggn_store.store.database.engine import Database

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+]+:")
# libpq's other form of an address, which is not for us: host=h dbname=d.
_SETTING = re.compile(r"(?:^|\s)(?:host|hostaddr|port|dbname|user|service|sslmode)\s*=", re.IGNORECASE)
# What begins with a port, or goes on with settings, is no password.
_PARTS = re.compile(r"\d*/|.*/.*[?&]\w+=", re.DOTALL)
_FORMS = "sqlite:///file.db, a file's name, or postgresql://user@host/database"


def connect(address: str | os.PathLike[str]) -> Database:
    """The database at `address`: a SQLAlchemy URL of SQLite or Postgres, or the name or path of a SQLite file.

    Nothing is opened yet, and only the module of that kind of database is imported. Raises StoreError for an address
    that is neither.
    """
    name = os.fspath(address) if isinstance(address, str | os.PathLike) else ""
    if not name or UNSTORABLE.search(name) or (name is address and "://" not in name and not _is_file(name)):
        raise StoreError(f"this is not the address of a store: write {_FORMS}")
    if name is not address:
        from ggn_store.store.database.sqlite import SQLite

        return SQLite(URL.create("sqlite", database=name))
    # What SQLAlchemy says of a malformed address may quote the password: it is not passed on.
    try:
        url = make_url(name) if "://" in name else URL.create("sqlite", database=name)
        match url.get_backend_name():
            case "sqlite":
                if url.host or (url.query and "uri" not in url.query):
                    raise StoreError(f"this is not the address of a SQLite file: write {_FORMS}")
                drive = os.path.splitdrive(url.database or "")[0]
                if secrets_in(name.replace(drive, "", 1)) and not os.path.exists(url.database or ""):
                    raise StoreError(
                        f"this looks like the address of a server, and a new file is not called so: write {_FORMS}"
                    )
                from ggn_store.store.database.sqlite import SQLite

                return SQLite(url.set(drivername="sqlite"))
            case "postgres" | "postgresql":
                if _is_ambiguous(url):
                    raise StoreError(
                        "the address of the store has an @ too many, or another mark that parts it: in a user or "
                        "password, write @ as %40, / as %2F, ? as %3F, & as %26"
                    )
                from ggn_store.store.database.postgres import Postgres

                # The one driver that is installed with the package, however the address names it.
                return Postgres(url.set(drivername="postgresql+psycopg"))
            case name:
                raise StoreError(f"{quote(name)} is not a database that can hold a store: write {_FORMS}")
    except (SQLAlchemyError, TypeError, ValueError) as error:
        if isinstance(error, GgnStoreError):
            raise
        raise StoreError(f"this is not the address of a store: write {_FORMS}") from None


def _is_file(address: str) -> bool:
    """Whether an address without a scheme is the name of a file, and not one whose scheme is forgotten or misspelt."""
    name = os.path.splitdrive(address)[1]
    if _SCHEME.match(name):
        return False
    return os.path.exists(name) or not (secrets_in(name) or _SETTING.search(name))


def _is_ambiguous(url: URL) -> bool:
    """Whether an address was taken apart at a mark that may be one of its password's."""
    names = (url.host or "", url.database or "")
    return (
        any("@" in each or "%40" in each or secrets_in(each) or _SETTING.search(each) for each in names)
        or ("%" in names[0] and ":" not in names[0])  # which only the number of an IPv6 interface has
        or not all(name.isidentifier() for name in url.query)
        or _PARTS.match(str(url.password or "")) is not None
    )
