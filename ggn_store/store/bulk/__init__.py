"""All rows of the views, read in bulk: for exports, the columnar copy, and views in Python.

In: revisions, or pieces. Out: columns of numbers and texts, made from the tables of many pieces at once.
"""
