"""No request may reach what is not public, however its address is written and whatever its name stands for."""

import asyncio
import socket

import pytest

from apps.retrieval.fetching import FetchRequest

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
        async with publisher({"": FEED}).serving() as source, fetcher(open_hosts=()) as asker:
            return await asker.fetch(FetchRequest(f"http://{host}:{source.port}/")), source.requests

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
        async with publisher({"": FEED}).serving() as source, fetcher(open_hosts=()) as asker:
            monkeypatch.setattr(socket, "getaddrinfo", look_up)
            return await asker.fetch(FetchRequest(source.url("", "innocent.example"))), source.requests

    fetched, requests = asyncio.run(scenario())
    assert (fetched.failure.kind, requests) == ("refused_address", [])


def test_a_redirect_leads_to_no_refused_address(ask):
    answers = {"a": b"HTTP/1.1 302 Found\r\nLocation: http://other.localhost:{port}/b\r\n\r\n", "b": FEED}
    [fetched], publisher = ask(answers, "a", host="site.localhost", open_hosts=["site.localhost"])
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
def test_an_open_host_may_be_anywhere(ask, host, open_hosts):
    [fetched], _ = ask({"feed": FEED}, "feed", host=host, open_hosts=open_hosts)
    assert fetched.body == b"<rss/>"


@pytest.mark.parametrize("port", [22, 25, 5432, 6379, 9200, 27017])
def test_ports_of_other_services_are_refused(fetcher, port):
    async def scenario():
        async with fetcher(open_hosts=()) as asker:
            return await asker.fetch(FetchRequest(f"http://news.example:{port}/"))

    failure = asyncio.run(scenario()).failure
    assert (failure.kind, failure.message) == ("refused_address", f"Port {port} is none that news is served on.")
