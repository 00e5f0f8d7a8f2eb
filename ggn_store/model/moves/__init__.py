"""Positions, moves, and how a game is played: what may be played, what it is called, how it ends."""
