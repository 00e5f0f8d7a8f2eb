"""Whether this machine can write letters in PNG pictures."""

from __future__ import annotations

import pytest

from ggn_store.render import png
from ggn_store.render.svg import FONTS

needs_a_font = pytest.mark.skipif(not png.has_font(FONTS), reason="this machine has no font to write letters with")
