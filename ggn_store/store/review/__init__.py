"""Policies of namespaces, proposals, and verdicts on them. Rows are only added; the newest policy counts."""
