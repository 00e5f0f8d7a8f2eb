"""Rulesets and positions as columns, which DuckDB is asked about, here or in executors of Spark."""
