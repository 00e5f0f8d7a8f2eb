"""`ggn-store gdl`"""

from __future__ import annotations

import click

from ggn_store.cli import gdl_check


@click.group("gdl")
def command() -> None:
    """Look at game descriptions: JSON specifications of games as state machines, seven sections with expressions."""


command.add_command(gdl_check.command)
