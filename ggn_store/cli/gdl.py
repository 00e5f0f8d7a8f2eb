"""`ggn-store gdl`"""

from __future__ import annotations

import click

from ggn_store.cli import gdl_check, gdl_compile, options


@click.group("gdl", cls=options.Group)
def gdl() -> None:
    """Check and compile game descriptions: JSON with the conditions and effects of a game's actions.

    See `ggn-store guide game-descriptions`.
    """


gdl.add_command(gdl_check.command)
gdl.add_command(gdl_compile.command)
