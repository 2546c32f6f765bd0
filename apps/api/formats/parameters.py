"""What programs send along, read and checked: numbers, moments, texts, and JSON whatever it is called."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

MAX_NUMBER = 2**63 - 1  # that Postgres keeps


class BadRequest(ValueError):
    """What a program sent cannot be meant; the message names it."""


def whole(name: str, said: object, *, least: int = 0) -> int:
    """A whole number, as a number or written down.

    >>> whole("limit", "20"), whole("id", 7)
    (20, 7)
    >>> whole("limit", "many")
    Traceback (most recent call last):
    ...
    apps.api.formats.parameters.BadRequest: “limit” has to be a whole number, 0 or more.
    """
    number = said
    if isinstance(said, str) and said.isascii() and len(said) < 20 and said.removeprefix("-").isdecimal():
        number = int(said)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= MAX_NUMBER:
        raise BadRequest(f"“{name}” has to be a whole number, {least:,} or more.")
    return number


def moment(name: str, said: object) -> datetime:
    """A moment in seconds since 1970.

    >>> moment("after", "1709208000").isoformat()
    '2024-02-29T12:00:00+00:00'
    """
    try:
        return datetime.fromtimestamp(whole(name, said), UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadRequest(f"“{name}” has to be a moment in seconds since 1970.") from error


def truth(name: str, said: object) -> bool:
    """
    >>> truth("starred", "true"), truth("starred", "0"), truth("crawler", False)
    (True, False, False)
    """
    if isinstance(said, bool):
        return said
    if isinstance(said, str) and said.lower() in {"true", "1", "false", "0"}:
        return said.lower() in {"true", "1"}
    raise BadRequest(f"“{name}” has to be true or false.")


def text(name: str, said: object, *, most: int) -> str:
    """A text that a database can take, so long at most, without space around it.

    >>> text("title", " News ", most=10)
    'News'
    """
    if not isinstance(said, str):
        raise BadRequest(f"“{name}” has to be a text.")
    said = said.strip()
    if len(said) > most:
        raise BadRequest(f"“{name}” has {len(said):,} characters; at most {most:,} are allowed.")
    if "\0" in said or any("\ud800" <= letter <= "\udfff" for letter in said):
        raise BadRequest(f"“{name}” holds characters that cannot be kept.")
    return said


def read_object(body: bytes) -> Mapping[str, Any]:
    """The object that a body is in JSON; an empty body is an empty one.

    >>> read_object(b'{"title": "News"}'), read_object(b"")
    ({'title': 'News'}, {})
    """
    try:
        said = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BadRequest("The body is not JSON.") from error
    if not isinstance(said, dict):
        raise BadRequest("The body has to be an object in JSON.")
    return said
