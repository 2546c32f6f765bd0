"""Replay: the server as a client on loopback sees it."""

import gzip
import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest

from apps.reading.algorithms.picture_kinds import Picture, picture_in
from apps.sources.formats import parse
from lab.evaluations.replays.summary import summarise
from lab.worlds.faults import Fault, trouble_until
from lab.worlds.feed import make_feed
from lab.worlds.responses import Options
from lab.worlds.server import Replay, serving

MONDAY = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass
class Clock:
    now: datetime = MONDAY

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Client:
    """One connection that sends exactly the given headers."""

    replay: Replay
    clock: Clock
    path: str = "/feed"
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.replay.addresses.port, timeout=10)

    def get(self, path=None, *, source=1, host=None, method="GET", at=None, **headers):
        if at is not None:
            self.clock.now = at
        self.connection.putrequest(method, path or self.path, skip_host=True, skip_accept_encoding=True)
        self.connection.putheader("Host", host or f"s{source}.replay.localhost:{self.replay.addresses.port}")
        for name, value in headers.items():
            self.connection.putheader(name.replace("_", "-"), value)
        self.connection.endheaders()
        response = self.connection.getresponse()
        response.content = response.read()
        return response


def hourly(number=1, hours=72):
    return make_feed(number, [(MONDAY + timedelta(hours=hour, minutes=1), f"Hour {hour}") for hour in range(hours)])


@contextmanager
def replaying(*feeds, fault=None, **values) -> Iterator[Client]:
    clock = Clock()
    feeds = feeds or (hourly(),)
    faults = {feed.number: fault for feed in feeds} if fault else {}
    with serving(feeds, clock=clock, faults=faults, options=Options(**values)) as replay:
        client = Client(replay, clock)
        yield client
        client.connection.close()


def titles(response):
    parsed = parse(response.content, content_type=response.headers["Content-Type"], url="http://s1.replay.localhost/")
    return [entry.title for entry in parsed.entries]


def test_a_feed_shows_what_is_published_so_far():
    with replaying(window=2) as client:
        assert titles(client.get(at=MONDAY)) == []
        assert titles(client.get(at=MONDAY + timedelta(hours=1))) == ["Hour 0"]
        assert titles(client.get(at=MONDAY + timedelta(hours=3))) == ["Hour 2", "Hour 1"]


def test_a_week_is_served_in_a_moment_and_every_posting_is_recorded_once():
    with replaying(hourly(1, 168), hourly(2, 168)) as client:
        for hour in range(169):
            client.get(at=MONDAY + timedelta(hours=hour, minutes=1))
        published = client.replay.record.published
        assert len({(line.source, line.posting) for line in published}) == len(published) == 2 * 168
        assert published[0].at == (MONDAY + timedelta(minutes=1)).timestamp()
        requests = client.replay.record.requests
        assert len(requests) == 169
        assert (requests[2].first, requests[2].count) == (0, 3)
        assert summarise(client.replay.record.lines).smallest_gap_minutes == 60.0


def test_the_same_feed_is_found_by_host_name_and_by_path():
    with replaying() as client:
        by_name = client.get(at=MONDAY + timedelta(hours=2))
        by_path = client.get("/s/1/feed", host="127.0.0.1")
        assert by_name.content == by_path.content
        assert client.replay.local_url(1).endswith("/s/1/feed")


@pytest.mark.parametrize("number", [1, 2])  # a weak tag and a strong one
def test_both_validators_lead_to_a_304_until_something_is_published(number):
    with replaying(hourly(number)) as client:
        first = client.get(source=number, at=MONDAY + timedelta(hours=2))
        assert parsedate_to_datetime(first.headers["Last-Modified"]) == MONDAY + timedelta(hours=1, minutes=1)
        tag, date = first.headers["ETag"], first.headers["Last-Modified"]
        for headers in ({"If_None_Match": tag}, {"If_Modified_Since": date}):
            again = client.get(source=number, **headers)
            assert (again.status, again.content, again.headers["ETag"]) == (304, b"", tag)
        later = MONDAY + timedelta(hours=3)
        for headers in ({"If_None_Match": tag}, {"If_Modified_Since": date}):
            assert client.get(source=number, at=later, **headers).status == 200


def test_a_body_is_compressed_on_request():
    with replaying() as client:
        plain = client.get(at=MONDAY + timedelta(hours=2))
        packed = client.get(Accept_Encoding="br, gzip")
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.content) == plain.content


def test_an_edition_is_rendered_once():
    with replaying() as client:
        for _ in range(5):
            client.get(at=MONDAY + timedelta(hours=2))
        assert client.replay._sites._body.cache_info().misses == 1


def test_a_226_contains_new_postings_only():
    with replaying(delta=True) as client:
        tag = client.get(at=MONDAY + timedelta(hours=2)).headers["ETag"]
        delta = client.get(at=MONDAY + timedelta(hours=4), A_IM="feed", If_None_Match=tag)
        assert (delta.status, delta.headers["IM"], titles(delta)) == (226, "feed", ["Hour 3", "Hour 2"])
        assert client.get(A_IM="feed", If_None_Match=delta.headers["ETag"]).status == 304
        assert client.get(A_IM="feed", If_None_Match='"unknown-1"').status == 200
        assert client.get(If_None_Match=tag).status == 200
        last = client.replay.record.requests[1]
        assert (last.first, last.count) == (2, 4)


def test_pages_lead_to_the_feed_and_to_the_text():
    with replaying() as client:
        client.clock.now = MONDAY + timedelta(hours=1)
        front = client.get("/").content.decode()
        assert f'type="application/rss+xml" title="Feed 1" href="{client.replay.feed_url(1)}"' in front
        article = client.replay.addresses.article(1, 0)
        assert article in front
        page = client.get(article.split(str(client.replay.addresses.port))[1])
        assert (page.status, b"<h1>Hour 0</h1>" in page.content) == (200, True)
        picture = client.replay.addresses.picture(1, 0).split(str(client.replay.addresses.port))[1]
        drawn = client.get(picture)
        assert drawn.headers["Content-Type"] == "image/png"
        assert picture_in(drawn.content) == Picture("image/png", 640, 360)


def test_every_site_has_an_icon_of_its_own():
    with replaying(hourly(1), hourly(2)) as client:
        drawn = [client.get(path, at=MONDAY) for path in ("/s/1/favicon.ico", "/s/1/icon.png", "/s/2/icon.png")]
        assert {picture_in(each.content) for each in drawn} == {Picture("image/png", 72, 72)}
        assert drawn[0].content == drawn[1].content != drawn[2].content
        assert b'<link rel="icon" type="image/png" href="/icon.png">' in client.get("/s/1/", at=MONDAY).content


@pytest.mark.parametrize("path", ["/robots.txt", "/1/item/00-0", "/nothing", "/s/99/feed"])
def test_a_missing_page_gets_404(path):
    with replaying() as client:
        assert client.get(path, at=MONDAY + timedelta(hours=1)).status == 404


def test_a_posting_of_the_future_has_no_page_yet():
    with replaying() as client:
        path = client.replay.addresses.article(1, 5).split(str(client.replay.addresses.port))[1]
        assert client.get(path, at=MONDAY).status == 404
        assert client.get(path, at=MONDAY + timedelta(hours=6)).status == 200


def test_optional_robots_txt_and_headers_are_served():
    with replaying(robots="User-agent: *\nDisallow: /", headers={"Cache-Control": "max-age=7200"}) as client:
        assert client.get("/robots.txt").content.startswith(b"User-agent")
        assert client.get().headers["Cache-Control"] == "max-age=7200"


def test_the_record_contains_the_headers_of_the_client():
    with replaying() as client:
        client.get("/feed?x=1", If_None_Match='W/"odd"', If_Modified_Since="odd", User_Agent="A/1", Cookie="a=b")
        client.get(method="HEAD", at=MONDAY + timedelta(hours=1))
        assert client.get(method="POST").status == 405
        first, head, post = client.replay.record.requests
        assert (first.if_none_match, first.if_modified_since, first.agent) == ('W/"odd"', "odd", "A/1")
        assert (first.unwelcome, first.conditional) == (("cookie", "query"), True)
        assert (head.method, head.first, head.count, post.status) == ("HEAD", 0, 0, 405)


def test_connections_to_one_host_are_counted():
    with replaying() as client:
        client.get()
        other = Client(client.replay, client.clock)
        other.get()
        other.get(source=2)
        other.connection.close()
        assert [line.connections for line in client.replay.record.requests] == [1, 2, 1]


def in_trouble(troubled):
    hours = (MONDAY + timedelta(hours=hour, minutes=30) for hour in range(1, 72))
    return next(hour for hour in hours if bool(trouble_until(1, hour.timestamp())) is troubled)


def test_an_overloaded_source_sends_retry_after():
    end = datetime.fromtimestamp(trouble_until(1, in_trouble(True).timestamp()), UTC)
    with replaying(fault=Fault.TOO_MANY_REQUESTS) as client:
        response = client.get(at=in_trouble(True))
        assert (response.status, int(response.headers["Retry-After"])) == (429, (end - in_trouble(True)).seconds)
        assert client.get(at=in_trouble(False)).status == 200
    with replaying(fault=Fault.UNAVAILABLE) as client:
        response = client.get(at=in_trouble(True))
        assert (response.status, parsedate_to_datetime(response.headers["Retry-After"])) == (503, end)


def test_a_server_error_passes():
    with replaying(fault=Fault.SERVER_ERROR) as client:
        assert client.get(at=in_trouble(True)).status == 500
        assert client.get(at=in_trouble(False)).status == 200


def test_a_truncated_body_is_shorter_than_promised_and_does_not_count_as_served():
    with replaying(fault=Fault.TRUNCATED) as client:
        with pytest.raises(http.client.IncompleteRead):
            client.get(at=in_trouble(True))
        assert not client.replay.record.requests[-1].whole
        client.connection.close()
        assert client.get(at=in_trouble(False)).status == 200
        assert client.replay.record.requests[-1].whole


def test_a_source_may_ignore_conditions_or_offer_no_validators():
    with replaying(fault=Fault.IGNORES_CONDITIONS) as client:
        tag = client.get(at=MONDAY + timedelta(hours=2)).headers["ETag"]
        assert client.get(If_None_Match=tag).status == 200
    with replaying(fault=Fault.NO_VALIDATORS) as client:
        headers = client.get(at=MONDAY + timedelta(hours=2)).headers
        assert "ETag" not in headers
        assert "Last-Modified" not in headers


@pytest.mark.parametrize(
    ("fault", "status", "target"), [(Fault.REDIRECT, 302, "elsewhere"), (Fault.MOVED, 301, "moved")]
)
def test_a_redirect_leads_to_the_feed(fault, status, target):
    with replaying(fault=fault) as client:
        for path, host in (("/feed", None), ("/s/1/feed", "127.0.0.1")):
            response = client.get(path, host=host, at=MONDAY + timedelta(hours=2))
            assert (response.status, response.headers["Location"]) == (status, f"{path}/{target}")
            assert titles(client.get(response.headers["Location"], host=host)) == ["Hour 1", "Hour 0"]


def test_a_source_is_gone_from_some_time_on():
    with replaying(fault=Fault.GONE, end=(MONDAY + timedelta(days=3)).timestamp()) as client:
        assert client.get(at=MONDAY + timedelta(days=3)).status == 410


def test_a_wrong_charset_and_a_slow_answer():
    with replaying(fault=Fault.WRONG_CHARSET) as client:
        assert client.get().headers["Content-Type"].endswith("iso-8859-1")
    with replaying(fault=Fault.SLOW, slowness=0.01) as client:
        assert client.get().status == 200


def test_the_next_start_at_the_same_port_makes_the_same_postings_again():
    with replaying() as client:
        client.get(at=MONDAY + timedelta(hours=2))
        port, before = client.replay.addresses.port, client.replay.record.published
    clock = Clock(MONDAY + timedelta(hours=3))
    with serving([hourly()], clock=clock, port=port, done=len(before)) as replay:
        Client(replay, clock).get()
        after = replay.record.published
    assert [line.posting for line in [*before, *after]] == [0, 1, 2]
    assert after[0].link == before[0].link[:-1] + "2"


def test_a_taken_port_is_an_error_of_the_caller():
    with replaying() as client, pytest.raises(OSError, match="in use"), serving([], port=client.replay.addresses.port):
        pass
