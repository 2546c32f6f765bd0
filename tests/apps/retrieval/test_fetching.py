"""What sources get to see of us, and what we make of their answers."""

import asyncio
import gzip
import pickle
import zlib
from functools import partial

import brotli
import pytest

from apps.retrieval.http.connections import Limits
from apps.retrieval.http.fetching import FetchRequest, Hop, Timeouts, Validators

FEED = b"<rss>" + b"<item/>" * 500 + b"</rss>"


def answer(body: bytes = FEED, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join([b"HTTP/1.1 " + status, length, *headers, b"", body])


def redirect(status: int, location: str) -> bytes:
    return answer(b"", b"Location: " + location.encode(), status=b"%d Elsewhere" % status)


def headers_of(request: bytes) -> dict[str, bytes]:
    lines = (line.split(b": ", 1) for line in request.split(b"\r\n")[1:])
    return {name.decode().lower(): value for name, value in lines}


def test_the_first_request_is_unconditional_and_names_us(fetch_paths):
    [fetched], publisher = fetch_paths({"feed": answer()}, "feed")
    assert (fetched.status, fetched.body, fetched.failure) == (200, FEED, None)
    [request] = publisher.requests
    assert request.startswith(b"GET /feed HTTP/1.1\r\n")
    sent = headers_of(request)
    assert sent["user-agent"] == b"Wirebeat/1.2 (+https://news.example/about)"
    assert sent["accept-encoding"] == b"gzip, deflate, br"
    assert sent["host"] == b"127.0.0.1:%d" % publisher.port
    assert set(sent) == {"user-agent", "accept-encoding", "host", "accept", "connection"}
    assert sent["connection"] == b"close"


def test_the_readers_of_a_source_are_counted_where_there_are_any(fetch_paths):
    _, publisher = fetch_paths({"feed": answer()}, "feed", request=partial(FetchRequest, subscribers=12))
    [request] = publisher.requests
    assert headers_of(request)["user-agent"] == b"Wirebeat/1.2 (+https://news.example/about; 12 subscribers)"


@pytest.mark.parametrize(
    ("etag", "last_modified"),
    [
        (b'"33a64df5"', b"Wed, 21 Oct 2015 07:28:00 GMT"),
        (b'W/"weak"', b"Wed, 21 Oct 2015 07:28:00 GMT"),
        (b"no quotes at all", b"yesterday, about noon"),
        (b'"a-gzip"', b"2015-10-21 07:28:00+02:00"),
        (b'"two", "of them"', b"0"),
        (b'"tab\there"', b"Wednesday, 21-Oct-15 07:28:00 GMT"),
        ('"größe"'.encode(), b"Wed, 21 Oct 2015  07:28:00 gmt"),
    ],
)
def test_validators_go_back_byte_for_byte(fetch_paths, etag, last_modified):
    [first], _ = fetch_paths(
        {"feed": answer(FEED, b"ETag: " + etag, b"LAST-MODIFIED:   " + last_modified + b"  ")}, "feed"
    )
    validators = Validators(first.headers["etag"], first.headers["last-modified"])
    _, publisher = fetch_paths({"feed": answer()}, "feed", request=partial(FetchRequest, validators=validators))
    sent = headers_of(publisher.requests[0])
    assert sent["if-none-match"] == etag
    assert sent["if-modified-since"] == last_modified
    assert sent["a-im"] == b"feed"


@pytest.mark.parametrize("etag", ['"gr\xf6\xdfe"', '"日本"', '"a"\r\nCookie: b', '"\x00"', ""])
def test_a_validator_that_cannot_be_sent_as_it_came_is_left_out(fetch_paths, etag):
    _, publisher = fetch_paths({"feed": answer()}, "feed", request=partial(FetchRequest, validators=Validators(etag)))
    [request] = publisher.requests
    assert not {"if-none-match", "a-im", "cookie", "if-modified-since"} & set(headers_of(request))


def test_only_what_was_offered_is_sent_back(fetch_paths):
    date = Validators(last_modified="Wed, 21 Oct 2015 07:28:00 GMT")
    _, publisher = fetch_paths({"feed": answer()}, "feed", request=partial(FetchRequest, validators=date))
    sent = headers_of(publisher.requests[0])
    assert "if-modified-since" in sent
    assert not {"if-none-match", "a-im"} & set(sent)  # a delta makes sense only against a known edition


def test_cookies_and_referrers_are_never_sent_nor_is_the_address_changed(fetch_paths):
    answers = {"a": answer(b"", b"Set-Cookie: id=1; Path=/", b"Location: /b?x=1&&y=%41#part", status=b"302 Found")}
    answers["b"] = answer(FEED, b"Set-Cookie: id=2; Path=/")
    _, publisher = fetch_paths(answers, ["a", "b"], host="news.localhost")  # a jar would take no cookies from numbers
    assert [request.split(b" ")[1] for request in publisher.requests] == [b"/a", b"/b?x=1&&y=%41", b"/b"]
    assert not any({"cookie", "referer"} & set(headers_of(request)) for request in publisher.requests)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        (b"gzip", gzip.compress(FEED)),
        (b"X-GZIP", gzip.compress(FEED[:100]) + gzip.compress(FEED[100:])),
        (b"deflate", zlib.compress(FEED)),
        (b"deflate", zlib.compress(FEED, wbits=-15)),
        (b"br", brotli.compress(FEED)),
        (b"identity", FEED),
    ],
    # Without names of their own they would be called by their bytes, in which gzip writes the time.
    ids=["gzip", "two gzip members", "zlib", "raw deflate", "brotli", "identity"],
)
def test_bodies_are_decoded(fetch_paths, coding, body):
    [fetched], _ = fetch_paths({"feed": answer(body, b"Content-Encoding: " + coding)}, "feed")
    assert (fetched.body, fetched.wire_bytes, fetched.failure) == (FEED, len(body), None)


def test_a_304_has_headers_and_no_body(fetch_paths):
    [fetched], _ = fetch_paths(
        {"feed": b'HTTP/1.1 304 Not Modified\r\nETag: "new"\r\nContent-Length: 99\r\n\r\n'}, "feed"
    )
    assert (fetched.status, fetched.headers["etag"], fetched.body, fetched.failure) == (304, '"new"', b"", None)


def test_a_226_is_given_back_as_it_is(fetch_paths):
    [fetched], _ = fetch_paths({"feed": answer(b"<rss/>", b"IM: feed", status=b"226 IM Used")}, "feed")
    assert (fetched.status, fetched.headers["im"], fetched.body) == (226, "feed", b"<rss/>")


def test_repeated_headers_are_joined_and_bytes_kept(fetch_paths):
    [fetched], _ = fetch_paths({"feed": answer(b"", b"Link: <a>", b"LINK: <b>", b"X-Name: \xe9")}, "feed")
    assert fetched.headers["link"] == "<a>, <b>"
    assert fetched.headers["x-name"] == "\xe9"


def test_an_error_page_is_not_read(fetch_paths):
    [fetched], _ = fetch_paths({"feed": answer(FEED, b"Retry-After: 7", status=b"503 Busy")}, "feed")
    assert (fetched.status, fetched.headers["retry-after"], fetched.body, fetched.failure) == (503, "7", b"", None)


def test_fetched_responses_can_be_pickled(fetch_paths):
    [fetched], _ = fetch_paths({"feed": answer()}, "feed")
    assert pickle.loads(pickle.dumps(fetched)) == fetched


@pytest.mark.parametrize(
    ("statuses", "is_permanent"),
    [([301], True), ([308], True), ([301, 308], True), ([302], False), ([307], False), ([303], False),
     ([301, 302], False), ([302, 301], False)],
)  # fmt: skip
def test_an_address_has_moved_for_good_only_if_every_redirect_says_so(fetch_paths, statuses, is_permanent):
    answers = {str(step): redirect(status, f"/{step + 1}#x") for step, status in enumerate(statuses)}
    [fetched], publisher = fetch_paths(answers | {str(len(statuses)): answer()}, "0")
    target = publisher.url(str(len(statuses)))
    assert fetched.url == target
    assert fetched.permanent_url == (target if is_permanent else "")
    assert fetched.redirects == tuple(Hop(status, publisher.url(str(i + 1))) for i, status in enumerate(statuses))


def test_validators_follow_a_redirect(fetch_paths):
    request = partial(FetchRequest, validators=Validators('"1"'))
    _, publisher = fetch_paths({"a": redirect(302, "/b"), "b": answer()}, "a", request=request)
    assert [headers_of(sent)["if-none-match"] for sent in publisher.requests] == [b'"1"', b'"1"']


def test_five_redirects_are_followed_and_no_more(fetch_paths):
    answers = {str(step): redirect(302, f"/{step + 1}") for step in range(6)} | {"6": answer()}
    [five, six], publisher = fetch_paths(answers, ["1", "0"])
    assert (five.status, five.failure) == (200, None)
    assert six.failure.kind == "too_many_redirects"
    assert len(publisher.requests) == 6 + 6


def test_a_circle_of_redirects_is_left(fetch_paths):
    [fetched], publisher = fetch_paths({"a": redirect(301, "/b"), "b": redirect(301, "/a#again")}, "a")
    assert (fetched.failure.kind, fetched.permanent_url) == ("too_many_redirects", "")
    assert len(publisher.requests) == 2


@pytest.mark.parametrize(
    ("location", "kind"),
    [("ftp://example.org/", "bad_address"), ("file:///etc/passwd", "bad_address"), ("", "protocol"),
     ("http://[", "protocol"), ("http://user:secret@127.0.0.1/", "bad_address"), ("/" + "x" * 2_000, "bad_address"),
     ("http://10.0.0.1/", "refused_address"), ("http://[::ffff:7f00:1]:{port}/b", "refused_address"),
     ("http://example.org:25/", "refused_address"), ("http://169.254.169.254/latest", "refused_address")],
)  # fmt: skip
def test_a_redirect_is_checked_like_any_address(fetch_paths, location, kind):
    [fetched], _ = fetch_paths({"a": redirect(302, location), "b": answer()}, "a")
    assert (fetched.status, fetched.failure.kind) == (0, kind)
    assert "secret" not in str(fetched)


def test_http_addresses_and_ipv6_work(publisher, fetcher):
    async def scenario():
        async with publisher({"feed": answer()}).serving("::1") as source, fetcher() as client:
            return await client.fetch(FetchRequest(source.url("feed", "[::1]")))

    fetched = asyncio.run(scenario())
    assert (fetched.status, fetched.body, fetched.url[:12]) == (200, FEED, "http://[::1]")


def fetch_together(publisher, fetcher, urls, answers=None, **options):
    """Fetch `host/path` addresses at the same time."""

    async def scenario():
        async with publisher(answers or {"feed": answer()}).serving() as source, fetcher(**options) as client:
            requests = [FetchRequest(source.url(*reversed(url.split("/")))) for url in urls]
            return await asyncio.gather(*map(client.fetch, requests)), source

    return asyncio.run(scenario())


def slowly(seconds):
    async def script(writer):
        await asyncio.sleep(seconds)
        writer.write(answer())
        await writer.drain()

    return script


def test_a_host_gets_one_request_at_a_time_with_gaps(publisher, fetcher):
    fetched, source = fetch_together(
        publisher, fetcher, ["a.localhost/feed"] * 4, {"feed": slowly(0.02)}, host_gap=0.05
    )
    assert [each.status for each in fetched] == [200] * 4
    assert source.max_open == 1
    rests = [begin - end for (_, end), (begin, _) in zip(source.times, source.times[1:], strict=False)]
    assert min(rests) > 0.045


def test_a_request_that_gives_way_comes_after_one_that_arrives_during_its_gap(publisher, fetcher):
    async def scenario():
        answers = {"icon": answer(), "feed": answer()}
        async with publisher(answers).serving() as source, fetcher(host_gap=0.5) as client:
            icon = FetchRequest(source.url("icon"), low_priority=True)
            await client.fetch(icon)
            later = asyncio.create_task(client.fetch(icon))
            await asyncio.sleep(0)  # until it waits
            feed = await client.fetch(FetchRequest(source.url("feed")))
            return [feed, await later], source

    fetched, source = asyncio.run(scenario())
    assert [each.failure for each in fetched] == [None, None]
    assert [head.split()[1] for head in source.requests] == [b"/icon", b"/feed", b"/icon"]
    rests = [begin - end for (_, end), (begin, _) in zip(source.times, source.times[1:], strict=False)]
    assert min(rests) > 0.49


def test_different_hosts_are_fetched_at_the_same_time(publisher, fetcher):
    urls = [f"{host}.localhost/feed" for host in "abcdef"]
    _, source = fetch_together(publisher, fetcher, urls, {"feed": slowly(0.1)}, host_gap=9.0)
    assert source.max_open == 6


def test_only_so_many_connections_are_open(publisher, fetcher):
    urls = [f"{host}.localhost/feed" for host in "abcdef"]
    _, source = fetch_together(publisher, fetcher, urls, {"feed": slowly(0.02)}, connections=Limits(due=2))
    assert (source.max_open, len(source.requests)) == (2, 6)


def test_a_response_has_the_time_of_its_request(fetch_paths):
    [fetched], _ = fetch_paths({"feed": answer()}, "feed")
    assert fetched.begun_at == fetched.received_at
    [refused], _ = fetch_paths({}, "feed", open_hosts=())
    assert refused.begun_at is None


def test_redirects_within_a_host_need_no_gap(fetch_paths):
    [fetched], publisher = fetch_paths({"a": redirect(301, "/b"), "b": answer()}, "a", host_gap=30.0)
    assert (fetched.status, len(publisher.requests)) == (200, 2)


def test_a_redirect_to_another_host_waits_for_its_turn(publisher, fetcher):
    answers = {"moved": redirect(302, "http://b.localhost:{port}/feed"), "feed": slowly(0.05)}
    urls = ["b.localhost/feed", "a.localhost/moved"]
    fetched, source = fetch_together(publisher, fetcher, urls, answers, host_gap=0.1)
    assert [each.status for each in fetched] == [200, 200]
    (_, first_ended), (second_began, _) = source.times[-2:]
    assert second_began - first_ended > 0.09


def test_the_wait_for_a_turn_does_not_count_into_the_time_out(publisher, fetcher):
    fetched, _ = fetch_together(
        publisher, fetcher, ["a.localhost/feed"] * 3, host_gap=0.3, timeouts=Timeouts(total=0.2)
    )
    assert [each.failure for each in fetched] == [None] * 3
    assert max(each.elapsed for each in fetched) < 0.2


def test_a_request_that_would_wait_too_long_gets_a_time_to_retry(publisher, fetcher):
    urls = ["a.localhost/feed"] * 8
    fetched, source = fetch_together(publisher, fetcher, urls, host_gap=0.1, longest_wait=0.25)
    busy = [each.failure for each in fetched if each.failure]
    assert (len(source.requests), len(busy)) == (3, 5)
    assert {failure.kind for failure in busy} == {"host_busy"}
    waits = [failure.retry_after for failure in busy]
    assert waits == pytest.approx([0.3, 0.4, 0.5, 0.6, 0.7], abs=0.02)  # not all at the same time again


def test_a_request_behind_a_slow_response_of_its_host_is_postponed_in_time(publisher, fetcher):
    answers = {"slow": slowly(0.3), "feed": answer()}
    fetched, _ = fetch_together(publisher, fetcher, ["a.localhost/slow", "a.localhost/feed"], answers, longest_wait=0.1)
    assert [each.failure and each.failure.kind for each in fetched] == [None, "host_busy"]


def test_a_redirect_to_a_busy_host_names_no_time_to_retry(publisher, fetcher):
    answers = {"moved": redirect(302, "http://b.localhost:{port}/slow"), "slow": slowly(0.3)}
    urls = ["b.localhost/slow", "a.localhost/moved"]
    fetched, _ = fetch_together(publisher, fetcher, urls, answers, longest_wait=0.1)
    assert (fetched[1].failure.kind, fetched[1].failure.retry_after) == ("host_busy", None)


def test_a_host_that_was_busy_is_forgotten_after_its_rest(publisher, fetcher):
    async def scenario():
        async with publisher({"feed": answer()}).serving() as source, fetcher(host_gap=0.02) as client:
            await asyncio.gather(*(client.fetch(FetchRequest(source.url("feed"))) for _ in range(3)))
            await asyncio.sleep(0.1)
            return client._rate_limiter._hosts

    assert asyncio.run(scenario()) == {}


def test_a_message_is_posted_as_it_is_and_sent_on_nowhere(fetch_paths):
    message = partial(FetchRequest, message=b'{"a": 1}', headers={"Content-Type": "application/json", "X-Said": "so"})
    [fetched], publisher = fetch_paths({"hook": redirect(307, "other"), "other": answer()}, "hook", request=message)
    assert (fetched.status, fetched.redirects, fetched.failure) == (307, (), None)
    [request] = publisher.requests
    assert request.startswith(b"POST /hook HTTP/1.1\r\n")
    sent = headers_of(request)
    assert (sent["content-type"], sent["x-said"], sent["content-length"]) == (b"application/json", b"so", b"8")
