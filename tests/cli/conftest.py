"""The program, in a place of its own, for the tests of all commands."""

from __future__ import annotations

from tests.support.mistakes import mistakes as mistakes
from tests.support.program import _own_place as _own_place
from tests.support.program import ask as ask
from tests.support.program import ggn as ggn
from tests.support.program import run as run
