"""XML by templates, without the characters that XML cannot represent."""

from pathlib import Path
from xml.sax.saxutils import escape

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from apps.sources.formats.text import without_controls as writable


def _written(value: object) -> Markup:
    return Markup(escape(writable(str(value)), {'"': "&quot;", "\r": "&#13;"}))


_XML = Environment(autoescape=True, finalize=_written, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
_XML.filters["writable"] = writable


def template(name: str, *, beside: str) -> Template:
    """The template of this name in the folder of a module; whatever is inserted is escaped."""
    return _XML.from_string(Path(beside).with_name(name).read_text("utf-8"))
