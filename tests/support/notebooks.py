"""Notebooks as tests: the cells of one run in order, as in a kernel, and what they print and draw.

`python -m tests.support.notebooks` runs the notebook of the guides with all games, and writes what came out into it.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

from ggn_store import guides

Json = dict[str, Any]


def read(path: Path) -> Json:
    """A notebook as it is."""
    found: Json = json.loads(path.read_text(encoding="utf-8"))
    return found


def cells(path: Path, kind: str) -> list[str]:
    """The sources of the cells of a kind: `code` or `markdown`."""
    return [_source(cell) for cell in read(path)["cells"] if cell["cell_type"] == kind]


def run(path: Path, first: str | None = None) -> Json:
    """The notebook with what its cells print, come to and draw, run in the working directory.

    `first` is run after the first cell of code, to ask for less than a notebook does.
    """
    matplotlib.use("agg")
    notebook = read(path)
    names: Json = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell |= {"execution_count": count, "outputs": _outputs(_source(cell), f"{path.name}, cell {count}", names)}
            if count == 1 and first is not None:
                exec(first, names)
    return notebook


def _source(cell: Json) -> str:
    return "".join(cell["source"])


def _outputs(source: str, name: str, names: Json) -> list[Json]:
    """Run a cell. Its last expression is shown, unless a semicolon ends it, and so are the figures that it drew."""
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    found: list[Json] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        shown = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            shown["text/html"] = _lines(value._repr_html_())
        found.append({"output_type": "display_data", "metadata": {}, "data": shown})
    return found + [{"output_type": "display_data", "metadata": {}, "data": {"image/png": each}} for each in _figures()]


def _figures() -> list[str]:
    """The figures that are open, which are closed: as PNG in base64."""
    from matplotlib import pyplot

    found = []
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, format="png", dpi=72, bbox_inches="tight")
        found.append(base64.b64encode(picture.getvalue()).decode("ascii"))
    pyplot.close("all")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Write the notebook of the guides anew."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        made = run(guides.NOTEBOOK)
    guides.NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
