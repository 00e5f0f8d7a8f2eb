"""Values -> HTML: the templates, in which every text is hostile."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ggn_store.errors import counted, printable
from ggn_store.web import links

_HERE: Final = Path(__file__).parent
STATIC: Final = _HERE / "static"
_SIZE: Final = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
MEDIA: Final = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".js": "text/javascript; charset=utf-8"}


def html(template: str, values: Mapping[str, Any]) -> str:
    """The HTML of a template."""
    return _environment().get_template(template).render(values)


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=shown,
    )
    made.globals |= {"to": links.to, "style": f"/static/style.css?{digest('style.css')}"}
    made.filters |= {
        "picture": Markup,
        "count": lambda number: f"{number:,}",
        "time": time,
        "counted": counted,
        "cell": cell,
        "is_wide": is_wide,
    }
    return made


def shown(value: object) -> object:
    """A value as a page shows it: in a text, what would act on the rest (such as on its direction) is an escape."""
    if value is None:
        return ""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in value.split("\n"))


def is_wide(picture: str) -> bool:
    """Whether a picture needs all the width that there is: boards of several layers."""
    size = _SIZE.search(picture)
    return size is not None and float(size[1]) > 1.6 * float(size[2])


def cell(value: object) -> str:
    """A value of JSON as people read it."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(map(cell, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {cell(each)}" for name, each in value.items())
    return str(value)


def time(value: object) -> str:
    """A time in UTC, to the minute; of a value, or of its text in JSON."""
    return "" if value is None else str(value)[:16].replace("T", " ")


@functools.cache
def static(name: str) -> bytes | None:
    """A file that pages need, by its name; None where there is no such file."""
    names = {file.name for file in STATIC.iterdir() if file.suffix in MEDIA}
    return (STATIC / name).read_bytes() if name in names else None


def digest(name: str) -> str:
    """What is another text whenever a file is another one."""
    return hashlib.sha256(static(name) or b"").hexdigest()[:12]
