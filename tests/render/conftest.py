"""The pictures that are tested."""

from __future__ import annotations

from tests.support.drawings import drawn as drawn
from tests.support.drawings import games as games
