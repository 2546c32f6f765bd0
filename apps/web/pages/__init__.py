"""What pages show, as data."""

from typing import Any

Context = dict[str, Any]  # of a template
