"""Validation of parameters and bodies from programs."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

MAX_NUMBER = 2**63 - 1  # of a bigint


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


def truth(name: str, value: object) -> bool:
    """
    >>> truth("starred", "true"), truth("starred", "0"), truth("crawler", False)
    (True, False, False)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "1", "false", "0"}:
        return value.lower() in {"true", "1"}
    raise BadRequest(f"“{name}” has to be true or false.")


def text(name: str, value: object, *, most: int) -> str:
    """A text of at most that many characters that Postgres can store, without surrounding space.

    >>> text("title", " News ", most=10)
    'News'
    """
    if not isinstance(value, str):
        raise BadRequest(f"“{name}” has to be a text.")
    value = value.strip()
    if len(value) > most:
        raise BadRequest(f"“{name}” has {len(value):,} characters; at most {most:,} are allowed.")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise BadRequest(f"“{name}” holds characters that cannot be kept.")
    return value


def read_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object in a body; an empty body is an empty object.

    >>> read_object(b'{"title": "News"}'), read_object(b"")
    ({'title': 'News'}, {})
    """
    try:
        value = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BadRequest("The body is not JSON.") from error
    if not isinstance(value, dict):
        raise BadRequest("The body has to be an object in JSON.")
    return value
