"""Where a page of results ended, as it stands in an address."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Self

from apps.postings.queries import BadCursor, Cursor
from apps.search.algorithms.language import Tree, to_text
from apps.search.queries.times import EPOCH, microseconds

LENGTH = 20  # postings of a page
_SIGN = "r"  # before a place in an order by relevance
_MAX_NUMBER = 2**31 - 1  # number of a document
_VERSION = 1  # of what is kept; another one where it changes its form


@dataclass(frozen=True, slots=True)
class TimeCursor:
    """Behind a posting of an order by time."""

    published: int  # microseconds since 1970
    posting_id: int

    def encode(self) -> str:
        return f"{self.published}.{self.posting_id}"

    @classmethod
    def decode(cls, text: str) -> Self:
        """
        Raises
        ------
        BadCursor
            If it is no such place.

        Examples
        --------
        >>> TimeCursor.decode("1709208000000000.7")
        TimeCursor(published=1709208000000000, posting_id=7)
        """
        cursor = Cursor.decode(text)
        return cls(microseconds(cursor.published_at), cursor.id)


@dataclass(frozen=True, slots=True)
class RankCursor:
    """Behind so many postings of an order by relevance that was made of the documents before `until`, at a moment."""

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
        """
        Raises
        ------
        BadCursor
            If it is no such place, or one of a time that did not come yet.

        Examples
        --------
        >>> RankCursor.decode("r7.0.20", EPOCH)
        RankCursor(until=7, microseconds=0, position=20)
        """
        parts = text.removeprefix(_SIGN).split(".")
        if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) <= 18 for part in parts):
            raise BadCursor(f"{text[:50]!r} is no place in a list")
        until, at, position = map(int, parts)
        if until > _MAX_NUMBER or at > microseconds(now):
            raise BadCursor(f"{text[:50]!r} is no place in a list")
        return cls(until, at, position)

    def at(self, now: datetime) -> datetime:
        """The moment, in the time zone of `now`."""
        return (EPOCH + timedelta(microseconds=self.microseconds)).astimezone(now.tzinfo)

    def key(self, user_id: int | None, tree: Tree, said: tuple[object, ...]) -> str:
        """Of the whole list: the same for all its pages, and for nobody else."""
        whole = repr((_VERSION, user_id, to_text(tree), said, self.until, self.microseconds))
        return "search." + blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
