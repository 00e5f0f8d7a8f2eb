"""What keeps a store as it was written: guards on both databases, and on a Postgres server seals and roles.

In: a database. Out: what deviates, and the SQL that puts it right, which is in the .sql files; the words that are put
into these are our own.
"""
