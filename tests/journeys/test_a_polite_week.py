"""Simulated days over sources of every kind of behaviour, seen from their side: were we polite, and lost nothing?"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import groupby, pairwise

import pytest

from apps.following.models import Follow
from apps.postings.models import Posting
from apps.retrieval.models import Retrieval, Schedule
from apps.sources.actions.editing import add_sources
from apps.sources.models import Source
from lab.worlds.faults import Fault, trouble_until
from lab.worlds.lines import Request
from lab.worlds.responses import Options
from lab.worlds.server import Replay
from lab.worlds.synthetic import make_feeds
from tests.builders import a_follow
from tests.web import replaying

SOME_DAYS, WEEK = timedelta(days=2), timedelta(days=7)
HOUR, DAY = 3_600.0, 86_400.0  # s
GOOD = 4  # sources without faults
FAULTY = dict(enumerate(Fault, start=GOOD + 1))


class Week:
    """What a replay saw of a week of real time, or of some days."""

    def __init__(self, replay: Replay, ids: list[int], duration: timedelta) -> None:
        self.replay = replay
        self.days = duration / timedelta(days=1)
        self.ids = dict(zip((feed.number for feed in replay.feeds), ids, strict=True))
        self.requests: dict[int, list[Request]] = defaultdict(list)
        for request in replay.record.requests:
            if request.kind == "feed" and request.source is not None:
                self.requests[request.source].append(request)
        self.repeated = 0  # requests whose answer was lost with the worker: they are sent again at once
        for source, requests in self.requests.items():
            self.requests[source] = [kept for _, chain in groupby(requests, key=_time_of) for kept in _latest(chain)]
            self.repeated += len(requests) - len(self.requests[source])

    def of(self, fault: Fault) -> list[Request]:
        return next(self.requests[number] for number, kind in FAULTY.items() if kind is fault)

    def stored_at(self, number: int) -> set[float]:
        """When the answers were received that were stored: those over which the worker died are not among them."""
        times = Retrieval.objects.filter(source=self.ids[number]).values_list("fetched_at", flat=True)
        return {time.timestamp() for time in times}

    def source(self, fault: Fault) -> Source:
        return Source.objects.get(pk=next(self.ids[number] for number, kind in FAULTY.items() if kind is fault))

    def visits(self, number: int) -> list[Request]:
        """Requests without those that a redirect led to at the same time."""
        requests = self.requests[number]
        led = {
            after.at for before, after in pairwise(requests) if before.status in {301, 302} and after.at == before.at
        }
        return [request for request in requests if request.at not in led or request.status in {301, 302}]


def _time_of(request: Request) -> float:
    return request.at


def _latest(requests: Iterable[Request]) -> list[Request]:
    """Of requests at the same time the last, with the redirects that led to it."""
    chain = list(requests)
    ends = [number for number, request in enumerate(chain) if request.status not in {301, 302}]
    return chain[ends[-2] + 1 :] if len(ends) > 1 else chain


def replayed(portal, options: Options, faults: dict[int, Fault]) -> Iterator[Replay]:
    begin = portal.now.timestamp()
    feeds = make_feeds(GOOD + len(faults), seed=3, begin=begin - 3 * DAY, end=begin + 8 * DAY)
    with replaying(feeds, clock=portal.clock, faults=faults, options=options) as replay:
        yield replay


def watched(portal, replay: Replay, *, killed_share: float = 0.0, duration: timedelta) -> Week:
    ids = add_sources([Source(url=replay.feed_url(feed.number), always_retrieved=True) for feed in replay.feeds])
    portal.adopt()
    portal.run(duration, killed_share=killed_share)
    return Week(replay, ids, duration)


@pytest.fixture(params=[SOME_DAYS, pytest.param(WEEK, marks=pytest.mark.trial)], ids=["two days", "a week"])
def week(portal, request) -> Iterator[Week]:
    end = (portal.now + request.param).timestamp()
    for replay in replayed(portal, Options(slowness=0.0, end=end), FAULTY):
        yield watched(portal, replay, killed_share=0.03, duration=request.param)


@pytest.mark.timeout(900)  # s; thousands of requests, and the machine may be busy
def test_a_week_of_visits_is_polite_and_loses_nothing(week, subtests):
    everything = [request for requests in week.requests.values() for request in requests]
    assert len(everything) > 140 * week.days

    with subtests.test("only the first request for an address is unconditional, as long as its answer was stored"):
        for number in range(1, GOOD + 1):
            first_stored = min(week.stored_at(number))
            assert all(request.conditional for request in week.requests[number] if request.at > first_stored)

    with subtests.test("both validators are those of the latest stored answer, byte for byte"):
        for number in range(1, GOOD + 1):
            stored = week.stored_at(number)
            for before, after in pairwise(week.requests[number]):
                if before.at in stored:
                    assert (after.if_none_match, after.if_modified_since) == (before.etag, before.modified or None)

    with subtests.test("an hour passes between two visits, but for those that are repeated as the worker died"):
        assert 0 < week.repeated < 0.1 * len(everything)
        for number in week.requests:
            gaps = [after.at - before.at for before, after in pairwise(week.visits(number))]
            assert min(gaps, default=HOUR) >= HOUR

    check_conduct(week, everything, subtests)

    with subtests.test("Retry-After is honoured in seconds and as a date, and asking is slower afterwards"):
        for fault, status in ((Fault.TOO_MANY_REQUESTS, 429), (Fault.UNAVAILABLE, 503)):
            requests = week.of(fault)
            stored = week.stored_at(requests[0].source)
            refused = [(b, a) for b, a in pairwise(requests) if b.status == status and b.at in stored]
            assert refused
            for before, after in refused:
                assert after.at >= trouble_until(before.source, before.at)
                assert after.at - before.at >= 2 * HOUR

    with subtests.test("errors back off and never end the asking"):
        requests = week.of(Fault.SERVER_ERROR)
        assert {request.status for request in requests} >= {200, 500}
        assert requests[-1].at > requests[0].at + 0.7 * week.days * DAY

    with subtests.test("what is gone is asked no more"):
        statuses = [request.status for request in week.of(Fault.GONE)]
        assert statuses.count(410) <= 2  # twice if the worker died over the first
        assert statuses[-1] == 410
        assert week.source(Fault.GONE).state == Source.State.GONE

    with subtests.test("a permanent move is remembered after ten sightings, a temporary one never"):
        old = [request for request in week.of(Fault.MOVED) if request.status == 301]
        assert 10 <= len(old) <= 14
        assert week.source(Fault.MOVED).url.endswith("/moved")
        assert week.source(Fault.REDIRECT).url.endswith("/feed")

    with subtests.test("every posting that reached us whole is stored once"):
        lost, doubled = compare(week)
        assert (lost, doubled) == ([], [])


def check_conduct(week: Week, everything: list[Request], subtests) -> None:
    """How requests are sent, whatever they are for."""
    with subtests.test("no cookies, no referer, no added query, no HEAD, an honest name"):
        assert {request.unwelcome for request in everything} == {()}
        assert {request.method for request in everything} == {"GET"}
        assert {request.agent for request in everything} == {"Wirebeat/1.0.0 (+http://localhost:8000)"}

    with subtests.test("one connection at a time to a host"):
        assert {request.connections for request in everything} == {1}

    with subtests.test("robots.txt is requested at most once a day"):
        robots = defaultdict(list)
        for request in week.replay.record.requests:
            if request.kind == "robots":
                robots[request.source].append(request.at)
        assert robots
        assert all(after - before >= DAY for times in robots.values() for before, after in pairwise(times))

    with subtests.test("nothing else is requested: no pages, no pictures, no favicons"):
        assert {request.kind for request in week.replay.record.requests} == {"feed", "robots"}


def compare(week: Week) -> tuple[list[str], list[str]]:
    """Postings of stored answers that are missing, and those stored more than once."""
    published = {(line.source, line.posting): line for line in week.replay.record.published}
    lost, doubled = [], []
    for number, requests in week.requests.items():
        stored_at = week.stored_at(number)
        served = {
            published[number, posting].link
            for request in requests
            if request.status == 200 and request.whole and request.at in stored_at
            for posting in range(request.first, request.count)
        }
        links = list(Posting.objects.filter(source=week.ids[number]).values_list("url", flat=True))
        lost += sorted(served - set(links))
        doubled += sorted({link for link in links if links.count(link) > 1})
    return lost, doubled


@pytest.mark.parametrize("header", ["max-age=14400", "public, max-age=14400, s-maxage=60"])
def test_cache_control_is_a_not_before_also_on_304(portal, header):
    options = Options(headers={"Cache-Control": header})
    for replay in replayed(portal, options, {}):
        week = watched(portal, replay, duration=timedelta(days=1))
        for requests in week.requests.values():
            assert {request.status for request in requests} >= {200}
            assert all(after.at - before.at >= 4 * HOUR for before, after in pairwise(requests))
            assert len(requests) >= 4


def test_a_feed_that_robots_txt_disallows_is_not_fetched(portal):
    options = Options(robots="User-agent: *\nDisallow: /feed\n")
    for replay in replayed(portal, options, {}):
        week = watched(portal, replay, duration=timedelta(days=2))
        assert week.requests == {}
        assert set(Retrieval.objects.values_list("outcome", flat=True)) == {"refused"}
        assert Schedule.objects.filter(due_at__isnull=True).count() == 0


def test_one_check_serves_all_followers_and_sends_their_number(portal):
    for replay in replayed(portal, Options(), {}):
        [source_id] = add_sources([Source(url=replay.feed_url(1))])
        for _ in range(3):
            a_follow(source=Source.objects.get(pk=source_id))
        portal.adopt()
        portal.run(timedelta(minutes=30))
        requests = [request for request in replay.record.requests if request.kind == "feed"]
        assert [request.agent for request in requests] == ["Wirebeat/1.0.0 (+http://localhost:8000; 3 subscribers)"]
        assert Follow.objects.count() == 3


def test_a_delta_adds_new_postings_and_takes_none_away(portal):
    for replay in replayed(portal, Options(delta=True), {}):
        week = watched(portal, replay, duration=timedelta(days=2))
        statuses = [request.status for requests in week.requests.values() for request in requests]
        assert 226 in statuses
        for number, requests in week.requests.items():
            count = max(request.count for request in requests)
            first = requests[0].first
            assert Posting.objects.filter(source=week.ids[number]).count() == count - first
