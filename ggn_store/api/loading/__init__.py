"""Documents in: files, definitions and game descriptions enter; revisions that a ruleset takes leave."""
