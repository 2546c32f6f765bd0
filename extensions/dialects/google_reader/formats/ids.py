"""Item ids of Google Reader: a signed 64-bit number in four forms."""

import re

from apps.api.formats.parameters import BadRequest

PREFIX = "tag:google.com,2005:reader/item/"
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}", re.IGNORECASE | re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_WIDTH = 16  # digits of the short hexadecimal form
_ALL = 2**64


def long_form(item_id: int) -> str:
    """The form in responses.

    >>> long_form(31), long_form(-1)
    ('tag:google.com,2005:reader/item/000000000000001f', 'tag:google.com,2005:reader/item/ffffffffffffffff')
    """
    return f"{PREFIX}{item_id % _ALL:016x}"


def read_item_id(text: str) -> int:
    """The number in any of the forms: long, padded or not; sixteen hexadecimal digits; decimal.

    Sixteen digits alone are hexadecimal, as on all other servers; decimal ids from 1,000,000,000,000,000 on would be
    misread. Raises BadRequest if it is none of them.

    Examples
    --------
    >>> [read_item_id(text) for text in (long_form(31), f"{PREFIX}1f", "000000000000001f", "31", str(2**64 - 1))]
    [31, 31, 31, 31, -1]
    """
    text = text.strip()
    digits = text.removeprefix(PREFIX)
    if (digits != text or len(digits) == _WIDTH) and _HEXADECIMAL.fullmatch(digits):
        return _signed(int(digits, 16))
    if digits == text and _DECIMAL.fullmatch(digits) and -_ALL // 2 <= int(digits) < _ALL:
        return _signed(int(digits))
    raise BadRequest(f"“{text[:80]}” is no item's id.")


def _signed(number: int) -> int:
    return number - _ALL if number >= _ALL // 2 else number
