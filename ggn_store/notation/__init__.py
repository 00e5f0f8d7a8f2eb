"""The small notations that GGN is written with: each a pair of text -> value and value -> text."""
