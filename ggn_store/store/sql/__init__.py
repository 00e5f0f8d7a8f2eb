"""Queries in SQL from anybody: read-only, in bounds, each in a process of its own.

In: the text of one statement and its values. Out: columns and rows, or what was not allowed.
"""
