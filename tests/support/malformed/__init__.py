"""Malformed documents as data, a second opinion on what is valid, and a maker of mutants."""
