"""Keeping a store sound: versions, guards, derived rows made again, garbage collection, checks."""
