"""Policies and proposals: what a ruleset takes, and who has to approve of it.

In: rules for a namespace; a revision that is to be, and verdicts upon it. Out: the same, with what is wrong with rows
that others have put there. `api.loading.gates` applies policies, and triggers of the database refuse what was not
approved.
"""
