"""Values -> what people and programs read: boards and tables as text, JSON, NDJSON, CSV."""
