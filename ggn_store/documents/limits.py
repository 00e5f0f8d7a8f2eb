"""How large a document may be.

The limits are there so that a hostile or broken file ends in a clear message instead of taking the machine
down; they are far above the largest real documents known (187 MB, 1.6 million possibilities).
"""

from typing import Final

MAX_LABEL: Final = 255
MAX_SQUARES: Final = 65_536
MAX_PIECES: Final = 10_000
MAX_POSSIBILITIES: Final = 20_000_000
MAX_VARIABLES: Final = 1_000
MAX_VALUES: Final = 1_000

# Of a bundle, which is read line by line: a line is at most one piece, all else is kept by digest alone.
MAX_BUNDLE_LINE: Final = 128 * 1024 * 1024
MAX_BUNDLE_BYTES: Final = 16 * 1024 * 1024 * 1024
MAX_BUNDLE_RATIO: Final = 200
FREE_BUNDLE_BYTES: Final = 64 * 1024 * 1024
MAX_BUNDLE_LINES: Final = 1_000_000
MAX_BUNDLE_SQUARES: Final = 5_000_000
