"""Recorded postings: `items.jsonl` (one posting a line) and `sources.csv` (one source a line) to feeds."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from lab.worlds.feed import Feed, Text

MAX_LINE = 1_000_000  # characters
MAX_TITLE = 500  # characters
MAX_DESCRIPTION = 20_000  # characters


class TraceError(ValueError):
    """A recording that cannot be read; the message names the file's part and the line."""


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """One line of `sources.csv`."""

    number: int
    url: str
    language: str
    first: str  # time of the first posting, ISO 8601
    good: bool  # the times of its postings can be trusted


def read_sources(lines: Iterable[str], *, good_only: bool = False) -> list[RecordedSource]:
    """The sources of a recording, in its order.

    Raises TraceError if a column is missing or a number is not one.

    >>> read_sources(["src,url,first,lang,good", "3,http://a.test/feed,2023-01-01T00:00:00+00:00,en-US,1"])[0].number
    3
    """
    reader = csv.DictReader(lines)
    missing = {"src", "url", "first", "lang", "good"} - set(reader.fieldnames or ())
    if missing:
        raise TraceError(f"sources: column missing: {', '.join(sorted(missing))}")
    sources = []
    for row in reader:
        try:
            source = RecordedSource(int(row["src"]), row["url"], row["lang"] or "", row["first"], row["good"] == "1")
        except ValueError:
            raise TraceError(f"sources, line {reader.line_num}: src is not a number: {row['src']!r}") from None
        if source.good or not good_only:
            sources.append(source)
    return sources


def read_feeds(lines: Iterable[str], sources: Iterable[RecordedSource], *, begin: float, end: float) -> list[Feed]:
    """The feeds of `sources` with their postings in [begin, end), seconds since 1970.

    The lines may be in any order and are not kept: memory follows the slice, not the file. A source
    without a posting in the slice becomes an empty feed, as silent feeds exist as well.

    Raises TraceError naming the line that is no posting.

    >>> source = RecordedSource(3, "http://a.test/feed", "en", "", True)
    >>> line = '{"src": 3, "t": 50, "title": "Rain", "desc": "Rain is due."}'
    >>> [feed] = read_feeds([line], [source], begin=0, end=100)
    >>> feed.title, list(feed.times)
    ('a.test/feed', [50.0])
    """
    postings: dict[int, list[tuple[float, Text]]] = {source.number: [] for source in sources}
    for number, time, text in _read_items(lines, wanted=postings.keys(), begin=begin, end=end):
        postings[number].append((time, text))
    feeds = []
    for source in sources:
        ordered = sorted(postings[source.number], key=lambda posting: posting[0])
        feeds.append(
            Feed(
                number=source.number,
                title=_name(source.url),
                language=source.language,
                category="Replay",
                times=[time for time, _ in ordered],
                texts=[text for _, text in ordered],
            )
        )
    return feeds


def steady(recorded: Sequence[Feed], count: int, times: Sequence[float]) -> list[Feed]:
    """`count` feeds that all publish at the same `times` what recorded feeds have published, none of it twice.

    A recorded feed with many postings becomes several. Raises TraceError if there are too few.

    >>> recorded = [Feed(3, "News", "en", "", [1.0, 2.0, 3.0], [Text(word, ()) for word in "abc"])]
    >>> [feed] = steady(recorded, 1, [10.0, 20.0])
    >>> feed.number, feed.times, [text.title for text in feed.texts]
    (1, [10.0, 20.0], ['a', 'b'])
    """
    size = len(times)
    pieces = max((len(feed.times) // size for feed in recorded), default=0)
    starts = [(feed, piece * size) for piece in range(pieces) for feed in recorded if len(feed.times) >= size]
    chosen = [(feed, start) for feed, start in starts if start + size <= len(feed.times)][:count]
    if len(chosen) < count:
        raise TraceError(f"the recording has only {len(chosen)} feeds of {size} postings")
    return [
        replace(feed, number=number, times=list(times), texts=feed.texts[start : start + size])
        for number, (feed, start) in enumerate(chosen, 1)
    ]


def _read_items(
    lines: Iterable[str], *, wanted: Iterable[int], begin: float, end: float
) -> Iterator[tuple[int, float, Text]]:
    for count, line in enumerate(lines, start=1):
        if len(line) > MAX_LINE:
            raise TraceError(f"items, line {count}: longer than {MAX_LINE} characters")
        try:
            item = json.loads(line)
            number, time = int(item["src"]), float(item["t"])
        except (ValueError, KeyError, TypeError) as error:
            raise TraceError(f"items, line {count}: not a posting ({error!r})") from None
        if begin <= time < end and number in wanted:
            title = str(item.get("title") or "")[:MAX_TITLE]
            description = str(item.get("desc") or "")[:MAX_DESCRIPTION]
            yield number, time, Text(title, (description,) if description else ())


def _name(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}".rstrip("/")[:120] or url[:120]
