"""Parameters of Google Reader requests."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

from apps.api.formats.parameters import BadRequest

MAX_FIELDS = 25_000  # of a request: ten thousand items, and reserve
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Fields:
    """The values of a request by name, from body and query; names can be repeated.

    Bodies are parsed whatever their declared type, with `:`, `,` and `/` unescaped, as clients send them.
    """

    def __init__(self, *encoded: str) -> None:
        self._values: dict[str, list[str]] = {}
        for text in encoded:
            for name, value in _pairs(text):
                self._values.setdefault(name, []).append(value)

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def one(self, name: str, otherwise: str = "") -> str:
        """The first value of a name, without surrounding space."""
        return self._values.get(name, [otherwise])[0].strip()

    def number(self, name: str, otherwise: int, *, most: int) -> int:
        """A number from 1 to `most`; larger ones are reduced. Raises BadRequest if it is none."""
        text = self.one(name)
        if not text:
            return otherwise
        if not (text.isascii() and text.isdecimal()) or len(text) > 18 or not int(text):
            raise BadRequest(f"{name}={text[:40]} is no number from 1 on.")
        return min(int(text), most)


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise BadRequest(f"A request has at most {MAX_FIELDS:,} fields.") from error
    for name, value in pairs:
        if "\0" in value:
            raise BadRequest(f"{name[:40]} holds a character that no text has.")
        yield name, value


def read_moment(text: str, *, last: bool) -> datetime:
    """A time since 1970 in seconds, milliseconds, microseconds or nanoseconds, according to its size.

    `last` selects the last microsecond of that time instead of the first. Raises BadRequest if it is none.

    Examples
    --------
    >>> read_moment("1709208000", last=False).isoformat(), read_moment("1709208000123", last=True).isoformat()
    ('2024-02-29T12:00:00+00:00', '2024-02-29T12:00:00.123999+00:00')
    """
    text = text.strip()
    if not (text.isascii() and text.isdecimal()) or len(text) > 19:
        raise BadRequest(f"“{text[:40]}” is no time in seconds since 1970, or in parts of them.")
    number = int(text)
    if number >= 10**17:
        return _EPOCH + number // 1_000 * _MICROSECOND
    unit = 1_000_000 if number < 10**11 else 1_000 if number < 10**14 else 1  # microseconds
    return _EPOCH + (number * unit + (unit - 1 if last else 0)) * _MICROSECOND


def microseconds(moment: datetime) -> int:
    """Since 1970.

    >>> microseconds(datetime(2024, 2, 29, 12, tzinfo=UTC))
    1709208000000000
    """
    return (moment - _EPOCH) // _MICROSECOND
