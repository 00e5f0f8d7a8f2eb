"""`ggn-store schema`"""

from __future__ import annotations

import json
from typing import Any, cast

import click

from ggn_store.cli import options
from ggn_store.documents.schema import json_schema


@click.command("schema")
@click.argument("dialect", metavar="DIALECT", type=click.Choice(options.DIALECTS))
@options.output_option
def command(dialect: str, output: str | None) -> None:
    """Print the JSON Schema of a dialect, for editors.

    DIALECT is perform, must-deny, diff or gdl.

    It says all of a document's structure. What a schema cannot say (contradictory conditions, a condition that
    restates the source, duplicate keys) is checked by `validate`.
    """
    schema = json_schema(cast(Any, dialect))
    options.write([json.dumps(schema, indent=2, ensure_ascii=False) + "\n"], output)
