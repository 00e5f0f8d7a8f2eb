"""Revisions between stores: what one offers, what another receives, and how histories that went apart unite.

In: a `RevisionSource`, another store or a bundle. Out: a ruleset received in one transaction, checked, or nothing.
"""
