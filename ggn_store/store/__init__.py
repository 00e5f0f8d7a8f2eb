"""The database: tables, loading, looking up and asking. The only room that imports SQLAlchemy."""
