"""Positions as text: a line in one of the notations, or JSON, enters; a position leaves, and back."""
