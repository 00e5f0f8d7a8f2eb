"""Rulesets and positions as columns, for engines that work on whole columns: DuckDB, Spark, and any other."""
