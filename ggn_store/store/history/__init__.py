"""What changed, when and by whom: log, differences, blame, tags, states, and the audit that triggers write.

In: references to revisions. Out: values of `model`. What is written (tags, states) is only ever added.
"""
