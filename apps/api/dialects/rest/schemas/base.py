"""Shared parts of response models."""

import json
from collections.abc import Sequence
from math import isfinite
from typing import TypeVar

from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode
from pydantic import BaseModel, ConfigDict

from apps.database.statements import MAX_ID
from apps.postings.queries import BadCursor

Row = TypeVar("Row")


class Schema(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


def cut(rows: Sequence[Row], limit: int) -> tuple[list[Row], Row | None]:
    """The rows of a page and, if more follow, its last one; `rows` contains one more than the page."""
    shown = list(rows[:limit])
    return shown, shown[-1] if len(rows) > limit else None


def place_of(*values: str | int) -> str:
    """An opaque cursor.

    >>> place_of("Wire", 7), place_in(place_of("Wire", 7), str, int)
    ('WyJXaXJlIiw3XQ', ('Wire', 7))
    """
    return urlsafe_base64_encode(json.dumps(values, separators=(",", ":")).encode())


def place_in(text: str, *kinds: type) -> tuple[str | int, ...]:
    """The values of a cursor. Raises BadCursor if it is invalid or from another list."""
    try:
        values = json.loads(urlsafe_base64_decode(text))
    except (ValueError, RecursionError) as error:
        raise BadCursor(f"{text[:50]!r} is not a cursor") from error
    fits = isinstance(values, list) and len(values) == len(kinds)
    if not fits or not all(type(value) is kind for value, kind in zip(values, kinds, strict=True)):
        raise BadCursor(f"{text[:50]!r} is not a cursor of this list")
    if any(isinstance(value, int) and abs(value) > MAX_ID for value in values) or "\0" in "".join(map(str, values)):
        raise BadCursor(f"{text[:50]!r} is not a cursor of this list")
    return tuple(values)


def finite(value: float | None) -> float | None:
    """None for infinity and NaN, which JSON does not have."""
    return value if value is not None and isfinite(value) else None
