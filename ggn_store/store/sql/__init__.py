"""Other people's questions in SQL.

In: a text from anybody. Out: columns and rows, within bounds of time, memory and disk, or a QueryError. `queries`
starts a process for each (`child`), which can only read: SQLite's authorizer, or what Postgres has resolved the query
to (`resolved`), says whether it uses anything but the store's own tables and the functions that are allowed.
"""
