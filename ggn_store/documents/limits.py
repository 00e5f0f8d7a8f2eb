"""How large a document may be.

The limits are there so that a hostile or broken file ends in a clear message instead of taking the machine
down; they are far above the largest real documents known (187 MB, 1.6 million possibilities).
"""

from typing import Final

MAX_BYTES: Final = 512 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_LABEL: Final = 255
MAX_SQUARES: Final = 65_536
MAX_PIECES: Final = 10_000
MAX_POSSIBILITIES: Final = 20_000_000
