"""The coloured letter of a feed without an icon."""

import functools
import re
from zlib import crc32

HUES = 12  # classes in panes.css

_BEFORE_NAME = re.compile(r"^(?:https?://)?(?:www\.)?", re.IGNORECASE)


@functools.lru_cache(maxsize=10_000)
def letter_of(title: str) -> str:
    """The first letter, digit or Han character of a title or an address, as a capital.

    >>> letter_of("«Le Monde»"), letter_of("https://www.example.org/feed"), letter_of("人民日报"), letter_of("…")
    ('L', 'E', '人', '•')
    """
    name = _BEFORE_NAME.sub("", title)
    return next((character for character in name if character.isalnum()), "•").upper()[0]


@functools.lru_cache(maxsize=10_000)
def hue_of(title: str) -> int:
    """The number of a colour, the same on every page."""
    return crc32(title.encode()) % HUES
