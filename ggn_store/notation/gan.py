"""GAN: a piece with its style, as `perform` documents write it: `CHESS:+K` (seed: General Actor Notation)."""

from __future__ import annotations

import re

from ggn_store.notation import qpi

# The expression of the GAN specification, to the letter; \A and \z are what fullmatch does.
PATTERN = r"([A-Z][A-Z0-9]*:[-+]?[A-Z]|[a-z][a-z0-9]*:[-+]?[a-z])"
ALLOWED = "a GAN identifier such as CHESS:+P (style and letter in one case)"

_GAN = re.compile(PATTERN, re.ASCII)


def is_gan(text: str) -> bool:
    """Whether `text` is a piece identifier of the `perform` dialect."""
    return len(text) <= qpi.MAX_LENGTH and _GAN.fullmatch(text) is not None
