"""Responses of the replayed sites: feeds with validators and faults, pages, pictures, robots.txt."""

import gzip
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lab.worlds import pages
from lab.worlds.addresses import Addresses, Kind, Target
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
    delta: bool = False  # respond with 226 to requests with A-IM: feed
    headers: Mapping[str, str] = field(default_factory=dict)  # added to every 200, 226 and 304 of a feed
    robots: str | None = None  # robots.txt of all sites, None: 404
    slowness: float = 5.0  # seconds that a source with the fault SLOW takes
    kept_bodies: int = 512  # of feeds, packed and not packed
    end: float | None = None  # recorded time until which sources that are GONE have gone, None: the start


@dataclass(frozen=True, slots=True)
class Response:
    """A response, with its meaning for the record."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    first: int = 0
    count: int = 0
    fault: str = ""
    broken: bool = False  # break the connection in the middle of the body
    pause: float = 0.0  # seconds before the response


class ReplayedSites:
    """Computes the responses of all sites from feeds and time; renders every edition of a feed once."""

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

    def respond(self, target: Target, path: str, headers: Mapping[str, str], now: float) -> Response:
        """The response to a GET at the real time `now` (seconds since 1970)."""
        feed = self.feeds.get(target.source) if target.source is not None else None
        if target.kind is Kind.ROBOTS and self.options.robots is not None:
            return Response(200, self.options.robots.encode())
        if target.kind is Kind.HOME and target.source is None:
            return self._html(pages.directory_page(list(self.feeds.values())[:LINKS], self.addresses))
        if feed is None:
            return Response(404, b"There is nothing here.\n")
        if target.kind is Kind.ICON:
            return Response(200, pages.icon(feed.number), "image/png")
        published = feed.count_until(self.timeline.recorded(now))
        if target.kind is Kind.FEED:
            return self._feed_response(feed, path, headers, now)
        if target.kind is Kind.HOME:
            newest = reversed(range(max(0, published - LINKS), published))
            return self._html(pages.front_page(feed, newest, self.addresses))
        if target.run == self.addresses.run and target.posting < published:
            return self._posting_response(feed, target)
        return Response(404, b"There is nothing here.\n")

    def render_all(self, now: float) -> None:
        """Render every feed as of the real time `now`, so that the next responses come from the cache."""
        for number in self.feeds:
            self.respond(Target(Kind.FEED, number), "/feed", {"Accept-Encoding": "gzip"}, now)

    def _posting_response(self, feed: Feed, target: Target) -> Response:
        if target.kind is Kind.PICTURE:
            return Response(200, pages.picture(feed.number, target.posting, feed.texts[target.posting]), "image/png")
        return self._html(pages.article_page(feed, target.posting, self.timeline, self.addresses))

    def _html(self, page: str) -> Response:
        return Response(200, page.encode("utf-8", "replace"), "text/html; charset=utf-8")

    def _feed_response(self, feed: Feed, path: str, headers: Mapping[str, str], now: float) -> Response:
        fault = self.faults.get(feed.number)
        if refusal := self._refuse(feed, fault, path, now):
            return refusal
        edition = self._edition(feed, now)
        newest = self.timeline.real(feed.times[edition.count - 1]) if edition.count else self.timeline.start
        conditions = headers.get("If-None-Match"), headers.get("If-Modified-Since")
        honours_conditions = fault not in (Fault.IGNORES_CONDITIONS, Fault.NO_VALIDATORS)
        if honours_conditions and is_current(edition, *conditions, newest):
            response = Response(304, first=edition.first, count=edition.count)
        else:
            held = (
                held_count(edition, conditions[0], self.addresses.run)
                if honours_conditions and self._wants_delta(headers)
                else None
            )
            response = self._full_response(feed, edition, headers, held)
        if fault is not Fault.NO_VALIDATORS:
            response.headers["ETag"] = edition.etag
            if edition.modified:
                response.headers["Last-Modified"] = edition.modified
        response.headers.update(self.options.headers)
        return self._spoil(response, feed, fault, now)

    def _refuse(self, feed: Feed, fault: Fault | None, path: str, now: float) -> Response | None:
        """The response of a source that has moved, is gone or fails now."""
        recorded = self.timeline.recorded(now)
        if fault is Fault.GONE:
            end = self.options.end if self.options.end is not None else self.timeline.origin
            if recorded >= gone_from(feed.number, self.timeline.origin, end):
                return Response(410, b"This feed is gone.\n", fault=fault)
        if fault is Fault.REDIRECT and not path.endswith("/elsewhere"):
            return Response(302, headers={"Location": f"{path}/elsewhere"}, fault=fault)
        if fault is Fault.MOVED and not path.endswith("/moved"):
            return Response(301, headers={"Location": f"{path}/moved"}, fault=fault)
        if fault in BUSY and (until := trouble_until(feed.number, recorded)):
            return _busy(fault, self.timeline.real(until), now)
        return None

    def _edition(self, feed: Feed, now: float) -> Edition:
        count = feed.count_until(self.timeline.recorded(now))
        newest = self.timeline.real(feed.times[count - 1]) if count else None
        weak = feed.number % 4 == 1
        return make_edition(
            count=count, window=self.options.window, token=self.addresses.run, weak=weak, newest=newest, now=now
        )

    def _wants_delta(self, headers: Mapping[str, str]) -> bool:
        manipulations = headers.get("A-IM", "").lower().split(",")
        return self.options.delta and any(name.split(";")[0].strip() == "feed" for name in manipulations)

    def _full_response(self, feed: Feed, edition: Edition, headers: Mapping[str, str], held: int | None) -> Response:
        first = edition.first if held is None else held
        packed = "gzip" in headers.get("Accept-Encoding", "").lower()
        fields = {"Vary": "Accept-Encoding, A-IM" if self.options.delta else "Accept-Encoding"}
        if packed:
            fields["Content-Encoding"] = "gzip"
        if held is not None:
            fields |= {"IM": "feed", "Cache-Control": "no-store, im"}
        return Response(
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

    def _spoil(self, response: Response, feed: Feed, fault: Fault | None, now: float) -> Response:
        """The response with the fault of its source."""
        if fault is None:
            return response
        response = replace(response, fault=fault)
        if fault is Fault.SLOW:
            return replace(response, pause=self.options.slowness)
        if fault is Fault.WRONG_CHARSET and response.body:
            return replace(response, content_type=f"{format_of(feed.number)}; charset=iso-8859-1")
        if fault is Fault.TRUNCATED and response.body and trouble_until(feed.number, self.timeline.recorded(now)):
            return replace(response, broken=True)
        return response


def _busy(fault: Fault, until: float, now: float) -> Response:
    """An error until the real time `until`; Retry-After has whole seconds, so it is rounded up."""
    if fault is Fault.SERVER_ERROR:
        return Response(500, b"Something went wrong.\n", fault=fault)
    if fault is Fault.TOO_MANY_REQUESTS:
        return Response(429, headers={"Retry-After": str(max(1, math.ceil(until - now)))}, fault=fault)
    return Response(503, headers={"Retry-After": http_date(math.ceil(until))}, fault=fault)
