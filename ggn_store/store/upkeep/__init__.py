"""Keeping a store sound: upgrades, lanes made again, garbage collection, checks of all that is stored.

In: a whole store. Out: what was wrong, made or removed.
"""
