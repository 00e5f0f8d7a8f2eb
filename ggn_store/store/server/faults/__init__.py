"""What is wrong with rows that somebody has stored, as functions of Postgres: the digests and masks, in SQL.

Each takes an id and gives a text, NULL where the rows are sound. `store.seals` has them called.
"""
