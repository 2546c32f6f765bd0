"""Ids of items as Google Reader and its clients write them: a signed number of 64 bits in four forms."""

import re

PREFIX = "tag:google.com,2005:reader/item/"
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,16}", re.IGNORECASE | re.ASCII)
_DECIMAL = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_WIDTH = 16  # digits of the hexadecimal form that stands alone
_ALL = 2**64


class BadItemId(ValueError):
    """A text is the id of no item; the message names it."""


def long_form(item_id: int) -> str:
    """The form in answers.

    >>> long_form(31), long_form(-1)
    ('tag:google.com,2005:reader/item/000000000000001f', 'tag:google.com,2005:reader/item/ffffffffffffffff')
    """
    return f"{PREFIX}{item_id % _ALL:016x}"


def read_item_id(text: str) -> int:
    """The number that any of the forms stands for: long, padded or not; sixteen hexadecimal digits; decimal.

    Sixteen digits without more are hexadecimal, as no other server's ids are told apart either: ours, which count
    postings, would be misread from 1,000,000,000,000,000 on. Raises BadItemId if it is none of them.

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
    raise BadItemId(f"“{text[:80]}” is no item's id.")


def _signed(number: int) -> int:
    return number - _ALL if number >= _ALL // 2 else number
