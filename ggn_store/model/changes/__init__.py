"""Documents and other values compared, and merged: what differs, and what becomes of two changes."""
