"""No request may reach what is not public, however its address is written and whatever its name stands for."""

import asyncio
import socket

import pytest
from django.core.cache import cache

from apps.retrieval.http import guard
from apps.retrieval.http.fetching import FetchRequest
from lab.worlds import leases
from lab.worlds.leases import lease

FEED = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<rss/>"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "127.255.255.254", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001",
        "127.0.0.1.", "127。0。0。1", "１２７.0.0.1", "0", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fd00::1]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]",
        "localhost", "LOCALHOST", "localhost.", "a.localhost", "a.localhost.",
        "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "169.254.169.254", "192.0.2.1",
        "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused_however_it_is_written(publisher, fetcher, host):
    async def scenario():
        async with publisher({"": FEED}).serving() as source, fetcher(open_hosts=()) as client:
            return await client.fetch(FetchRequest(f"http://{host}:{source.port}/")), source.requests

    fetched, requests = asyncio.run(scenario())
    assert fetched.failure.kind == "refused_address"
    assert requests == []


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], ["10.0.0.1", "127.0.0.1"], ["::1", "127.0.0.1"], ["::ffff:127.0.0.1"]]
)
def test_a_name_is_refused_by_the_addresses_it_stands_for(publisher, fetcher, monkeypatch, found):
    def look_up(host, port, **options):
        return [
            (family, socket.SOCK_STREAM, 6, "", (address, port) if family == socket.AF_INET else (address, port, 0, 0))
            for address in found
            for family in [socket.AF_INET6 if ":" in address else socket.AF_INET]
        ]

    async def scenario():
        async with publisher({"": FEED}).serving() as source, fetcher(open_hosts=()) as client:
            monkeypatch.setattr(socket, "getaddrinfo", look_up)
            return await client.fetch(FetchRequest(source.url("", "innocent.example"))), source.requests

    fetched, requests = asyncio.run(scenario())
    assert (fetched.failure.kind, requests) == ("refused_address", [])


def test_a_redirect_leads_to_no_refused_address(fetch_paths):
    answers = {"a": b"HTTP/1.1 302 Found\r\nLocation: http://other.localhost:{port}/b\r\n\r\n", "b": FEED}
    [fetched], publisher = fetch_paths(answers, "a", host="site.localhost", open_hosts=["site.localhost"])
    assert fetched.failure.kind == "refused_address"
    assert fetched.url == publisher.url("b", "other.localhost")
    assert len(publisher.requests) == 1


@pytest.mark.parametrize(
    ("host", "open_hosts"),
    [
        ("127.0.0.1", ["127.0.0.1"]),
        ("s1.replay.localhost", [".replay.localhost"]),
        ("S1.Replay.Localhost", [".localhost"]),
    ],
)
def test_an_open_host_may_be_anywhere(fetch_paths, host, open_hosts):
    [fetched], _ = fetch_paths({"feed": FEED}, "feed", host=host, open_hosts=open_hosts)
    assert fetched.body == b"<rss/>"


@pytest.mark.parametrize("port", [22, 25, 5432, 6379, 9200, 27017])
def test_ports_of_other_services_are_refused(fetcher, port):
    async def scenario():
        async with fetcher(open_hosts=()) as client:
            return await client.fetch(FetchRequest(f"http://news.example:{port}/"))

    failure = asyncio.run(scenario()).failure
    assert (failure.kind, failure.message) == ("refused_address", f"Port {port} is not allowed for feeds.")


@pytest.mark.parametrize("entry", ["news.example", ".example", "10.0.0.0/8", "news.example:8080", "10.0.0.0/8:8080"])
def test_an_open_host_has_blocked_ports_as_all_have(fetcher, entry):
    async def scenario():
        async with fetcher(open_hosts=[entry]) as client:
            return await client.fetch(FetchRequest("http://news.example:5432/"))

    assert asyncio.run(scenario()).failure.kind == "refused_address"


@pytest.mark.parametrize("entry", ["site.localhost:{port}", ".localhost:{port}", "127.0.0.1:{port}", "127.0.0.0/8"])
def test_an_entry_with_a_port_opens_this_port_alone(publisher, fetcher, entry):
    async def scenario():
        async with (
            publisher({"": FEED}).serving() as source,
            publisher({"": FEED}).serving() as other,
            fetcher(open_hosts=[entry.format(port=source.port)]) as client,
        ):
            urls = (source.url("", "site.localhost"), other.url("", "site.localhost"))
            return [await client.fetch(FetchRequest(url)) for url in urls], other.requests

    (opened, closed), requests = asyncio.run(scenario())
    assert opened.body == b"<rss/>"
    if entry.endswith("{port}"):
        assert (closed.failure.kind, requests) == ("refused_address", [])


# --- leases -----------------------------------------------------------------------------------------------------------
URL = "http://s1.replay.localhost:8700/feed"


def is_leased(url=URL):
    closed = guard.Guard()
    return closed.opens(closed.check(url))


@pytest.fixture
def slow_renewal(monkeypatch):
    monkeypatch.setattr(leases, "RENEW_SECONDS", 3_600.0)


@pytest.fixture
def forgetful(monkeypatch):
    """What was seen of a lease is looked up each time."""
    monkeypatch.setattr(guard, "REMEMBER_SECONDS", -1.0)


def test_a_lease_opens_its_names_on_its_port_while_it_lasts():
    assert not is_leased()
    with lease(".replay.localhost:8700"):
        assert is_leased()
        for url in (
            "http://s1.replay.localhost:8701/", "http://s1.replay.localhost/", "https://s1.replay.localhost/",
            "http://replay.localhost:8700/", "http://localhost:8700/", "http://127.0.0.1:8700/",
            "http://s1.replay.localhost.example:8700/", "http://evilreplay.localhost:8700/",
        ):  # fmt: skip
            assert not is_leased(url), url
    assert not is_leased()


def test_replays_beside_each_other_have_leases_of_their_own():
    with lease(".replay.localhost:8701"):
        with lease(".replay.localhost:8700"):
            assert is_leased()
        assert not is_leased()
        assert is_leased("http://s1.replay.localhost:8701/")


@pytest.mark.parametrize("entry", [".lan:8700", ".replay.localhost", "127.0.0.1:8700", ".localhost.example:80"])
def test_nothing_but_a_port_of_this_machines_own_names_can_be_leased(entry):
    with pytest.raises(ValueError, match="cannot be leased"), lease(entry):
        pass


def test_a_lease_in_the_cache_opens_no_other_name():
    cache.set(guard.lease_key(80), ".example:80", timeout=60)
    assert not is_leased("http://news.example/")
    cache.delete(guard.lease_key(80))


def test_a_lease_expires_by_itself_and_is_renewed_until_then(slow_renewal, forgetful):
    """So nothing stays open behind a replay that was killed."""
    with lease(".replay.localhost:8700"):
        key = cache.make_key(guard.lease_key(8700))
        assert 0 < cache._cache.get_client().ttl(key) <= guard.LEASE_SECONDS
        cache.delete(guard.lease_key(8700))
        assert not is_leased()


def test_a_lease_that_the_cache_has_lost_is_given_again(monkeypatch, forgetful):
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.01)
    with lease(".replay.localhost:8700"):
        cache.delete(guard.lease_key(8700))
        while not is_leased():  # the time limit of tests ends it otherwise
            pass


def test_another_installation_has_not_leased_it(settings):
    with lease(".replay.localhost:8700"):
        guard._seen.clear()  # as in another process
        settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": "another"}}
        assert not is_leased()


def test_while_the_cache_is_away_a_lease_holds_as_long_as_it_was_given(settings, monkeypatch, forgetful):
    with lease(".replay.localhost:8700"):
        assert is_leased()
        settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}}
        assert is_leased()
        monkeypatch.setattr(guard, "LEASE_SECONDS", -1.0)
        assert not is_leased()
