"""Cursors in an order by relevance; those by time are cursors of postings."""

from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Self

from apps.postings.algorithms.times import microseconds, moment_of
from apps.postings.queries import BadCursor
from apps.search.algorithms.language import Tree, to_text

LENGTH = 20  # postings per page
_SIGN = "r"  # prefix of a RankCursor
_MAX_NUMBER = 2**31 - 1  # of a document
_VERSION = 3  # of the cached format


@dataclass(frozen=True, slots=True)
class RankCursor:
    """A position in the order by relevance of the documents before `until` at a time."""

    until: int
    microseconds: int  # since 1970
    position: int = 0

    def encode(self) -> str:
        """
        >>> RankCursor(700_000, 1_709_208_000_000_000, 20).encode()
        'r700000.1709208000000000.20'
        """
        return f"{_SIGN}{self.until}.{self.microseconds}.{self.position}"

    @staticmethod
    def may_be(text: str) -> bool:
        return text.startswith(_SIGN)

    @classmethod
    def decode(cls, text: str, now: datetime) -> Self:
        """The cursor, or `BadCursor`, also for a time in the future.

        >>> RankCursor.decode("r7.0.20", moment_of(0))
        RankCursor(until=7, microseconds=0, position=20)
        """
        parts = text.removeprefix(_SIGN).split(".")
        if len(parts) == 3 and all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in parts):
            until, at, position = map(int, parts)
            if until <= _MAX_NUMBER and at <= microseconds(now):
                return cls(until, at, position)
        raise BadCursor(f"{text[:50]!r} is not a cursor")

    def at(self, now: datetime) -> datetime:
        """The time, in the zone of `now`."""
        return moment_of(self.microseconds).astimezone(now.tzinfo)

    def key(self, user_id: int | None, tree: Tree, options: tuple[object, ...]) -> str:
        """The cache key of the whole list: the same for all its pages, and specific to the user."""
        whole = repr((_VERSION, user_id, to_text(tree), options, self.until, self.microseconds))
        return "search." + blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
