"""What changed, when and by whom: log, differences, blame, tags, states, and the audit that triggers write."""
