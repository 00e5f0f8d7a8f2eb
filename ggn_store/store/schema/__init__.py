"""The tables and views, described once; migrations make them, and a test compares the two."""
