"""The tables and views, described once; the migrations make them, and a test compares the two.

In: nothing. Out: SQLAlchemy's tables, and what the columns of the views mean.
"""
