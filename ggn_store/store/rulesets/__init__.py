"""Rulesets and their revisions as rows.

In: documents. Out: revisions by reference, boards, pieces as they were stored. Masks are derived in the transaction
that stores a piece.
"""
