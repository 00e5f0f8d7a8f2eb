"""Connections to SQLite and Postgres, and what the two do differently: a construct a file, both beside each other.

In: an address. Out: a `Database`, and a `Session` of it, whose transactions are of this program's version; and the
definitions (triggers, functions, views, ...) that a database is to have, and that it has.
"""
