"""Parameters of Google Reader requests."""

from datetime import datetime
from urllib.parse import parse_qs

from apps.api.formats.parameters import BadRequest
from apps.postings.algorithms.times import moment_of

MAX_FIELDS = 25_000  # per request: ten thousand items, and reserve


class Fields:
    """The values of a request by name, from body and query; names can be repeated.

    Bodies are parsed whatever their declared type, with `:`, `,` and `/` unescaped, as clients send them.
    """

    def __init__(self, *encoded: str) -> None:
        try:
            self._values = parse_qs("&".join(encoded), keep_blank_values=True, max_num_fields=MAX_FIELDS)
        except ValueError as error:
            raise BadRequest(f"A request has at most {MAX_FIELDS:,} fields.") from error
        for name, values in self._values.items():
            if any("\0" in value for value in values):
                raise BadRequest(f"{name[:40]} holds a character that no text has.")

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def one(self, name: str) -> str:
        """The first value of a name, without surrounding space."""
        return self._values.get(name, [""])[0].strip()

    def number(self, name: str, otherwise: int, *, most: int) -> int:
        """A number from 1 to `most`; larger ones are reduced. Raises BadRequest if it is none."""
        text = self.one(name)
        if not text:
            return otherwise
        if not (text.isascii() and text.isdecimal()) or len(text) > 18 or not int(text):
            raise BadRequest(f"{name}={text[:40]} is no number from 1 on.")
        return min(int(text), most)


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
        return moment_of(number // 1_000)
    unit = 1_000_000 if number < 10**11 else 1_000 if number < 10**14 else 1  # microseconds
    return moment_of(number * unit + (unit - 1 if last else 0))
