"""Records as JSON, one per line. They are validated when read: an archive may be hostile."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from apps.account_data.formats.container import Container
from apps.account_data.formats.problems import BadArchive
from apps.database.sanitizing import sanitize

MAX_ADDRESS_LENGTH = 4_000  # characters
MAX_IDENTIFIER_LENGTH = 10_000  # characters


def line_of(values: Mapping[str, Any]) -> bytes:
    """A record as a line.

    >>> line_of({"guid": "7", "starred_at": None})
    b'{"guid": "7", "starred_at": null}\\n'
    """
    return json.dumps(values, ensure_ascii=False, default=_plain).encode("utf-8", "replace") + b"\n"


def document_of(values: object) -> bytes:
    """A small document, indented for people."""
    return json.dumps(values, ensure_ascii=False, indent=2, default=_plain).encode("utf-8", "replace") + b"\n"


def _plain(value: object) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


class Record(NamedTuple):
    """A JSON object with its place in the archive."""

    values: Mapping[str, Any]
    member: str
    line: int = 0

    def bad(self, reason: str) -> BadArchive:
        return BadArchive(reason, self.member, self.line)

    def text(self, name: str, *, longest: int, otherwise: str | None = None) -> str:
        """
        >>> Record({"name": "News"}, "searches.json").text("name", longest=3)
        Traceback (most recent call last):
        apps.account_data.formats.problems.BadArchive: searches.json: “name” is longer than 3 characters.
        """
        value = self.values.get(name, otherwise)
        if not isinstance(value, str):
            raise self.bad(f"“{name}” is not a text.")
        if len(value) > longest:
            raise self.bad(f"“{name}” is longer than {longest:,} characters.")
        return value

    def moment(self, name: str) -> datetime | None:
        value = self.values.get(name)
        if value is None:
            return None
        try:
            at = datetime.fromisoformat(value)
        except (ValueError, TypeError):
            raise self.bad(f"“{name}” is not a time.") from None
        if at.tzinfo is None or not 1970 <= at.year <= 9000:
            raise self.bad(f"“{name}” is not a time with a zone.")
        return at.astimezone(UTC)  # Postgres rejects offsets of 16 hours and more

    def inner(self, name: str) -> "Record | None":
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.bad(f"“{name}” is not an object.")
        return Record(value, self.member, self.line)


def records(container: Container, member: str) -> Iterator[Record]:
    """One record per line of a member; none if the member is missing."""
    for number, line in container.lines(member):
        yield Record(_object(line, member, number), member, number)


def record(container: Container, member: str) -> Record | None:
    """The only object of a member; None if the member is missing or empty."""
    data = container.whole(member) if member in container else b""
    return Record(_object(data, member), member) if data.strip() else None


def record_list(container: Container, member: str, *, most: int) -> list[Record]:
    """The objects of a member that is a list; none if the member is missing."""
    if member not in container:
        return []
    values = _parsed(container.whole(member), member)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise BadArchive("It is not a list of objects.", member)
    if len(values) > most:
        raise BadArchive(f"It has {len(values):,} entries; at most {most:,} are allowed.", member)
    return [Record(value, f"{member}, entry {place}") for place, value in enumerate(values, 1)]


def _object(data: bytes, member: str, line: int = 0) -> dict[str, Any]:
    value = _parsed(data, member, line)
    if not isinstance(value, dict):
        raise BadArchive("It is not a JSON object.", member, line)
    return value


def _parsed(data: bytes, member: str, line: int = 0) -> Any:
    try:
        return _sanitized(json.loads(data.decode("utf-8")))
    except json.JSONDecodeError as error:
        place = "" if line else f"line {error.lineno}, "
        raise BadArchive(f"It is not JSON: {error.msg} at {place}column {error.colno}.", member, line) from None
    except (ValueError, RecursionError):
        raise BadArchive("It is not JSON in UTF-8.", member, line) from None


def _sanitized(value: Any) -> Any:
    """Without characters that Postgres cannot store."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, list):
        return [_sanitized(each) for each in value]
    if isinstance(value, dict):
        return {_sanitized(name): _sanitized(each) for name, each in value.items()}
    return value
