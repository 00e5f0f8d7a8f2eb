"""`ggn-store guide`"""

from __future__ import annotations

import os

import click

from ggn_store import guides
from ggn_store.cli import options, printing
from ggn_store.errors import did_you_mean, quote


@options.command("guide")
@click.argument(
    "topic",
    metavar="[TOPIC]",
    required=False,
    shell_complete=lambda _context, _parameter, begun: options.completed(guides.TOPICS, begun),
)
def guide(topic: str | None) -> None:
    """Show a guide, or without TOPIC list them all.

    Through a pipe a guide is its Markdown: `ggn-store guide sql | less`.
    """
    if topic is None:
        text = "\n".join(f"- **{each}**: {guides.summary(each)}" for each in guides.TOPICS)
        text = f"{text}\n\nRead one with `ggn-store guide TOPIC`.\n"
    elif topic in guides.TOPICS:
        text = guides.text(topic)
    else:
        hint = did_you_mean(topic, guides.TOPICS) or ": `ggn-store guide` lists them"
        raise click.UsageError(f"no guide is called {quote(topic)}{hint}")
    width = printing.terminal_width()
    if width is not None:
        from ggn_store.render.markdown import markdown

        text = markdown(text, width, not os.environ.get("NO_COLOR"))
    click.echo(text, nl=False)
