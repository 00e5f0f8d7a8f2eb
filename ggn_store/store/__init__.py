"""The store: the only room that imports SQLAlchemy. A room lies upon those below it; rooms of one line do not meet.

    upkeep        versions, lanes made again, garbage collection, checks
    server | exchange        guards, seals, roles; push, pull, bundles, merges
    history | review | moves | analyses | bulk | sql        what is asked of rulesets and done with them
    rulesets      documents in and out
    schema | database        tables and views; connections, and what SQLite and Postgres do differently

Who asks passes a `Database` and a `Connection`, in whose transaction all of a call happens.
"""
