"""Replayed feeds, each with the times and texts of its postings."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Text:
    """The words of one posting: plain text, no markup."""

    title: str
    paragraphs: tuple[str, ...]  # the first one serves as the summary


@dataclass(frozen=True, slots=True)
class Feed:
    """All postings of one replayed source, oldest first.

    A posting is named by its position, so that the same recording always gives it the same name.
    `texts` may compose a text on access only: fifty thousand feeds then fit in memory.
    """

    number: int
    title: str
    language: str
    category: str
    times: Sequence[float]  # seconds since 1970 in recorded time, ascending
    texts: Sequence[Text]  # as many as times

    def count_until(self, time: float) -> int:
        """The number of postings published until `time` (seconds since 1970, recorded time), inclusive.

        >>> Feed(1, "News", "en", "", [10.0, 20.0], [Text("a", ()), Text("b", ())]).count_until(10.0)
        1
        """
        return bisect_right(self.times, time)


def make_feed(
    number: int,
    postings: Iterable[tuple[datetime, str]],
    *,
    title: str = "",
    language: str = "en",
    category: str = "Replay",
) -> Feed:
    """A small feed from (time, title) pairs in any order; the text of each posting is one paragraph.

    >>> from datetime import UTC
    >>> make_feed(7, [(datetime(2024, 1, 1, tzinfo=UTC), "Rain is due")]).texts[0].title
    'Rain is due'
    """
    ordered = sorted(postings)
    return Feed(
        number=number,
        title=title or f"Feed {number}",
        language=language,
        category=category,
        times=[time.timestamp() for time, _ in ordered],
        texts=[Text(words, (f"{words}. More of it is known by now.",)) for _, words in ordered],
    )
