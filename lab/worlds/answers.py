"""What the replayed sites answer: feeds with validators and faults, pages, pictures, robots.txt."""

import gzip
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lab.worlds import pages
from lab.worlds.addresses import Addresses, Kind, Place
from lab.worlds.conditions import Edition, held_count, http_date, is_current, make_edition
from lab.worlds.faults import Fault, gone_from, trouble_until
from lab.worlds.feed import Feed
from lab.worlds.rendering import format_of, render
from lab.worlds.timeline import Timeline

LINKS = 200  # at most on a front page or in the directory
BUSY = frozenset({Fault.SERVER_ERROR, Fault.TOO_MANY_REQUESTS, Fault.UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class Options:
    """How the sites behave apart from their faults."""

    window: int = 50  # postings in a feed
    delta: bool = False  # answer 226 to those who ask with A-IM: feed
    headers: Mapping[str, str] = field(default_factory=dict)  # added to every 200, 226 and 304 of a feed
    robots: str | None = None  # robots.txt of all sites, None: 404
    slowness: float = 5.0  # seconds that a source with the fault SLOW takes
    kept_bodies: int = 512  # of feeds, packed and not packed
    end: float | None = None  # recorded instant by which faulty sources are gone, None: from the start


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and for the record what it means."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    first: int = 0
    count: int = 0
    fault: str = ""
    broken: bool = False  # break the connection in the middle of the body
    pause: float = 0.0  # seconds before the answer


class Newsstand:
    """Answers for all sites from the feeds and the time; every edition of a feed is rendered once."""

    def __init__(
        self,
        feeds: Sequence[Feed],
        timeline: Timeline,
        *,
        addresses: Addresses,
        options: Options,
        faults: Mapping[int, Fault],
    ) -> None:
        self.feeds = {feed.number: feed for feed in feeds}
        self.timeline = timeline
        self.addresses = addresses
        self.options = options
        self.faults = faults
        self._body = lru_cache(options.kept_bodies)(self._make_body)

    def answer(self, place: Place, path: str, headers: Mapping[str, str], now: float) -> Answer:
        """The answer to a GET at a real instant `now` (seconds since 1970)."""
        feed = self.feeds.get(place.source) if place.source is not None else None
        if place.kind is Kind.ROBOTS and self.options.robots is not None:
            return Answer(200, self.options.robots.encode())
        if place.kind is Kind.HOME and place.source is None:
            return self._html(pages.directory_page(list(self.feeds.values())[:LINKS], self.addresses))
        if feed is None:
            return Answer(404, b"There is nothing here.\n")
        published = feed.count_until(self.timeline.recorded(now))
        if place.kind is Kind.FEED:
            return self._answer_feed(feed, path, headers, now)
        if place.kind is Kind.HOME:
            newest = reversed(range(max(0, published - LINKS), published))
            return self._html(pages.front_page(feed, newest, self.addresses))
        if place.run == self.addresses.run and place.posting < published:
            return self._answer_posting(feed, place)
        return Answer(404, b"There is nothing here.\n")

    def render_all(self, now: float) -> None:
        """Render every feed as it is at a real instant, so that the next answers take no time."""
        for number in self.feeds:
            self.answer(Place(Kind.FEED, number), "/feed", {"Accept-Encoding": "gzip"}, now)

    def _answer_posting(self, feed: Feed, place: Place) -> Answer:
        if place.kind is Kind.PICTURE:
            return Answer(200, pages.picture(feed.number, place.posting, feed.texts[place.posting]), "image/png")
        return self._html(pages.article_page(feed, place.posting, self.timeline, self.addresses))

    def _html(self, page: str) -> Answer:
        return Answer(200, page.encode("utf-8", "replace"), "text/html; charset=utf-8")

    def _answer_feed(self, feed: Feed, path: str, headers: Mapping[str, str], now: float) -> Answer:
        fault = self.faults.get(feed.number)
        if refusal := self._refuse(feed, fault, path, now):
            return refusal
        edition = self._edition(feed, now)
        newest = self.timeline.real(feed.instants[edition.count - 1]) if edition.count else self.timeline.start
        conditions = headers.get("If-None-Match"), headers.get("If-Modified-Since")
        obeys = fault not in (Fault.IGNORES_CONDITIONS, Fault.NO_VALIDATORS)
        if obeys and is_current(edition, *conditions, newest):
            answer = Answer(304, first=edition.first, count=edition.count)
        else:
            held = (
                held_count(edition, conditions[0], self.addresses.run) if obeys and self._wants_delta(headers) else None
            )
            answer = self._full_answer(feed, edition, headers, held)
        if fault is not Fault.NO_VALIDATORS:
            answer.headers["ETag"] = edition.etag
            if edition.modified:
                answer.headers["Last-Modified"] = edition.modified
        answer.headers.update(self.options.headers)
        return self._spoil(answer, feed, fault, now)

    def _refuse(self, feed: Feed, fault: Fault | None, path: str, now: float) -> Answer | None:
        """The answer of a source that has moved, is gone, or cannot answer now."""
        recorded = self.timeline.recorded(now)
        if fault is Fault.GONE:
            end = self.options.end if self.options.end is not None else self.timeline.origin
            if recorded >= gone_from(feed.number, self.timeline.origin, end):
                return Answer(410, b"This feed is gone.\n", fault=fault)
        if fault is Fault.REDIRECT and not path.endswith("/elsewhere"):
            return Answer(302, headers={"Location": f"{path}/elsewhere"}, fault=fault)
        if fault is Fault.MOVED and not path.endswith("/moved"):
            return Answer(301, headers={"Location": f"{path}/moved"}, fault=fault)
        if fault in BUSY and (until := trouble_until(feed.number, recorded)):
            return _busy(fault, self.timeline.real(until), now)
        return None

    def _edition(self, feed: Feed, now: float) -> Edition:
        count = feed.count_until(self.timeline.recorded(now))
        newest = self.timeline.real(feed.instants[count - 1]) if count else None
        weak = feed.number % 4 == 1
        return make_edition(
            count=count, window=self.options.window, token=self.addresses.run, weak=weak, newest=newest, now=now
        )

    def _wants_delta(self, headers: Mapping[str, str]) -> bool:
        manipulations = headers.get("A-IM", "").lower().split(",")
        return self.options.delta and any(name.split(";")[0].strip() == "feed" for name in manipulations)

    def _full_answer(self, feed: Feed, edition: Edition, headers: Mapping[str, str], held: int | None) -> Answer:
        first = edition.first if held is None else held
        packed = "gzip" in headers.get("Accept-Encoding", "").lower()
        fields = {"Vary": "Accept-Encoding, A-IM" if self.options.delta else "Accept-Encoding"}
        if packed:
            fields["Content-Encoding"] = "gzip"
        if held is not None:
            fields |= {"IM": "feed", "Cache-Control": "no-store, im"}
        return Answer(
            status=200 if held is None else 226,
            body=self._body(feed.number, first, edition.count, packed),
            content_type=f"{format_of(feed.number)}; charset=utf-8",
            headers=fields,
            first=first,
            count=edition.count,
        )

    def _make_body(self, source: int, first: int, count: int, packed: bool) -> bytes:
        if packed:
            return gzip.compress(self._body(source, first, count, False), compresslevel=1, mtime=0)
        return render(self.feeds[source], first, count, self.timeline, self.addresses)

    def _spoil(self, answer: Answer, feed: Feed, fault: Fault | None, now: float) -> Answer:
        """The answer with the fault that such a source adds to it."""
        if fault is None:
            return answer
        answer = replace(answer, fault=fault)
        if fault is Fault.SLOW:
            return replace(answer, pause=self.options.slowness)
        if fault is Fault.WRONG_CHARSET and answer.body:
            return replace(answer, content_type=f"{format_of(feed.number)}; charset=iso-8859-1")
        if fault is Fault.TRUNCATED and answer.body and trouble_until(feed.number, self.timeline.recorded(now)):
            return replace(answer, broken=True)
        return answer


def _busy(fault: Fault, until: float, now: float) -> Answer:
    """A refusal that names the real instant `until` when it ends, as Retry-After counts whole seconds: rounded up."""
    if fault is Fault.SERVER_ERROR:
        return Answer(500, b"Something went wrong.\n", fault=fault)
    if fault is Fault.TOO_MANY_REQUESTS:
        return Answer(429, headers={"Retry-After": str(max(1, math.ceil(until - now)))}, fault=fault)
    return Answer(503, headers={"Retry-After": http_date(math.ceil(until))}, fault=fault)
