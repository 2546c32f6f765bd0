"""Validation of parameters and bodies from programs."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

MAX_NUMBER = 2**63 - 1  # of a bigint
WITHOUT_NUL = r"^[^\x00]*$"  # which Postgres cannot store

Model = TypeVar("Model", bound=BaseModel)


class BadRequest(ValueError):
    """A request has an invalid value; the message names it."""


def whole(name: str, value: object, *, least: int = 0) -> int:
    """A whole number, as a number or as text.

    >>> whole("limit", "20"), whole("id", 7)
    (20, 7)
    >>> whole("limit", "many")
    Traceback (most recent call last):
    ...
    apps.api.formats.parameters.BadRequest: “limit” has to be a whole number, 0 or more.
    """
    number = value
    if isinstance(value, str) and value.isascii() and len(value) < 20 and value.removeprefix("-").isdecimal():
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MAX_NUMBER:
        raise BadRequest(f"“{name}” has to be a whole number, {least:,} or more.")
    return number


def moment(name: str, value: object) -> datetime:
    """A time in seconds since 1970.

    >>> moment("after", "1709208000").isoformat()
    '2024-02-29T12:00:00+00:00'
    """
    try:
        return datetime.fromtimestamp(whole(name, value), UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadRequest(f"“{name}” has to be a moment in seconds since 1970.") from error


def valid(kind: type[Model], values: Mapping[str, Any] | bytes) -> Model:
    """Parameters, or a body with a JSON object, as a model. An empty body is an empty object.

    >>> class Page(BaseModel):
    ...     limit: int
    >>> valid(Page, {"limit": "20"}), valid(Page, b'{"limit": 7}')
    (Page(limit=20), Page(limit=7))
    """
    try:
        if isinstance(values, bytes):
            return kind.model_validate_json(values.strip() or b"{}")
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadRequest(f"“{place}”: {first['msg']}." if place else f"{first['msg']}.") from error
