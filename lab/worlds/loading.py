"""Find the feeds to replay: from the files of a recording, or made up."""

import lzma
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.worlds.feed import Feed
from lab.worlds.synthetic import make_feeds
from lab.worlds.trace import TraceError, read_feeds, read_sources

DAY = 86400.0  # seconds
MADE_UP_ORIGIN = datetime(2024, 1, 1, tzinfo=UTC)  # a Monday


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options of a replay: `synthetic` feeds, or those of `items` and `sources`."""

    synthetic: int
    items: Path | None
    sources: Path | None
    good: bool  # only sources whose times can be trusted
    begin: datetime | None  # None: the beginning of the recording
    days: float
    history_days: float  # before the beginning, so that feeds are not empty at first
    seed: int


@dataclass(frozen=True, slots=True)
class Loaded:
    feeds: list[Feed]
    origin: float  # seconds since 1970, recorded time
    end: float


def load(wanted: Wanted, watch: Callable[[Iterable[str]], Iterable[str]]) -> Loaded:
    """Load the feeds; `watch` is put around the lines of a long file to show how far it is read.

    Raises OSError if a file cannot be read, ValueError (also as TraceError) for one that is no recording and for
    bounds that are not kept.
    """
    if wanted.items is None or wanted.sources is None:
        origin = (wanted.begin or MADE_UP_ORIGIN).timestamp()
        begin, end = origin - wanted.history_days * DAY, origin + wanted.days * DAY
        return Loaded(make_feeds(wanted.synthetic, seed=wanted.seed, begin=begin, end=end), origin, end)
    with wanted.sources.open(encoding="utf-8", newline="") as lines:
        sources = read_sources(lines, good_only=wanted.good)
    if not sources:
        raise TraceError(f"{wanted.sources}: there is no source to replay")
    origin = (wanted.begin or _first_day(source.first for source in sources)).timestamp()
    begin, end = origin - wanted.history_days * DAY, origin + wanted.days * DAY
    # Opened as text, a packed file is unpacked as it is read: it is never in memory as a whole.
    with (lzma.open if wanted.items.suffix == ".xz" else open)(wanted.items, "rt", encoding="utf-8") as items:
        try:
            return Loaded(read_feeds(watch(items), sources, begin=begin, end=end), origin, end)
        except (lzma.LZMAError, EOFError, TraceError) as error:
            raise TraceError(f"{wanted.items}: {error}") from None


def _first_day(times: Iterable[str]) -> datetime:
    first = min((time for time in times if time), default="")
    try:
        return datetime.fromisoformat(first).replace(hour=0, minute=0, second=0, microsecond=0)
    except ValueError:
        raise TraceError(
            f"sources: the time of a first posting cannot be read: {first!r}; name a day yourself"
        ) from None
