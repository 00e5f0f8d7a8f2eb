"""HAND: the reserve of the side that a piece belongs to (Sashité HAND 1.0.0)."""

from typing import Final

HAND: Final = "*"
