"""The SQL of the analyses: one file each, on the tables, one statement for all that a ruleset holds."""
