"""The SQL of analyses, a question a file.

In: revisions, and an `Asker`, which runs the statements and shows them. Out: rows by number of squares; what follows
from them is in `ggn_store.analysis`.
"""
