"""Connections to SQLite and Postgres, and what the two do differently.

In: an address. Out: a `Database`, which gives transactions, and the definitions (triggers, views, ...) that it holds.
"""
