"""A store on a server with roles, which the tests of several rooms try to get round."""

from __future__ import annotations

from tests.support.house import house as house
from tests.support.house import used as used
