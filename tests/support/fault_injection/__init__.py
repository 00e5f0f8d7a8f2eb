"""Systematic faults: the N-th write, fsync or message of a command fails, for every N, and the store is looked at."""
