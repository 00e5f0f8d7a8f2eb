"""The commands of the command line."""

from __future__ import annotations

from collections.abc import Iterator

import click


def commands(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """The command and, of a group, every command below it, each with the words that call it."""
    yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            assert found.name == name
            yield from commands(found, (*words, name))
