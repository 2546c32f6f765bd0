"""A fetch ends in time, within its limits and with a result, whatever the server does."""

import asyncio
import gzip
import socket
import ssl
import zlib

import brotli
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.retrieval.http.fetching import FetchRequest, Timeouts

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
QUICK = Timeouts(total=0.3, connect=0.2, read=0.15)

# An untrusted certificate for 127.0.0.1, and its key.
UNTRUSTED = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgo5ZtAWMmQ6lXypO4
opf7ZeBwKIxk0RFG1Jenxan0ZNGhRANCAAQYl2DJ6pgqDfBPuUjtHtSwQKlbt23t
ffSiKYuDbIzI9KUWWtd99RKNm6+zROd+JGBvlGldt2jvTNWqzd5KtGot
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBkTCCATagAwIBAgIUXHGoDaRjM6qovCX7JXCjEoLjth4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA0NTgwOFoYDzIxMjYxMDI4
MDQ1ODA4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQYl2DJ6pgqDfBPuUjtHtSwQKlbt23tffSiKYuDbIzI9KUWWtd99RKN
m6+zROd+JGBvlGldt2jvTNWqzd5KtGoto2QwYjAdBgNVHQ4EFgQUULZ6z8AOgf2e
jnIN7lc/WX83yacwHwYDVR0jBBgwFoAUULZ6z8AOgf2ejnIN7lc/WX83yacwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
IQCzolwvI9YgMtAP+pTP5YifBQiu6xJplrfWCJg9JhLBiwIhAJk5XN/SaydM0ekt
Ms7xVVW0hZn9dGMF+UT3g9U+w8ri
-----END CERTIFICATE-----
"""


def answer(body: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers, b"", body])


def limited(url: str) -> FetchRequest:
    return FetchRequest(url, body_limit=100_000)


def pouring(*pieces: bytes, pause: float = 0.0):
    """Write the pieces, and the last one again and again until the client has had enough."""

    async def script(writer):
        for piece in pieces[:-1]:
            writer.write(piece)
        while True:
            writer.write(pieces[-1])
            await writer.drain()
            await asyncio.sleep(pause)

    return script


async def silence(writer):
    await asyncio.sleep(5)


@pytest.mark.parametrize(
    ("coding", "bomb"),
    [
        (b"gzip", gzip.compress(bytes(20_000_000))),
        (b"deflate", zlib.compress(bytes(20_000_000))),
        (b"br", brotli.compress(bytes(20_000_000), quality=1)),
        (b"identity", bytes(100_001)),
    ],
)
def test_a_body_larger_than_the_limit_is_not_read_to_its_end(fetch_paths, coding, bomb):
    [fetched], _ = fetch_paths({"bomb": answer(bomb, b"Content-Encoding: " + coding)}, "bomb", request=limited)
    assert (fetched.failure.kind, fetched.body, fetched.status) == ("too_large", b"", 200)
    assert fetched.failure.message == "The response is larger than 100,000 bytes."


def test_a_body_just_within_the_limit_is_read(fetch_paths):
    body = gzip.compress(bytes(100_000))
    [fetched], _ = fetch_paths({"feed": answer(body, b"Content-Encoding: gzip")}, "feed", request=limited)
    assert (fetched.failure, len(fetched.body)) == (None, 100_000)


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (silence, "timeout"),
        (pouring(b"HTTP/1.1 200 OK\r\n\r\n", b"drop", pause=0.02), "timeout"),
        (pouring(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536), "too_large"),
        (pouring(b"HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n", b""), "too_large"),
        (pouring(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b""), b"x" * 65_536), "too_large"),
        (pouring(CHUNKED, b"8000\r\n" + bytes(32_768) + b"\r\n"), "too_large"),
        (pouring(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n", b"\x6a" + b"\x00" * 1_000), "decoding"),
        (pouring(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "protocol"),
        (pouring(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1_000), "protocol"),
        (pouring(b"HTTP/1.1 200 ", b"OK" * 1_000), "protocol"),
        (pouring(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.02), "timeout"),
        (pouring(b"HTTP/1.1 100 Continue\r\n\r\n"), "timeout"),
        (answer(gzip.compress(bytes(50_000))[:-9], b"Content-Encoding: gzip"), "decoding"),
        (answer(b"<rss/>", b"Content-Encoding: gzip"), "decoding"),
        (answer(b"<rss/>", b"Content-Encoding: br"), "decoding"),
        (answer(b"<rss/>", b"Content-Encoding: zstd"), "decoding"),
        (answer(b"<rss/>", b"Content-Encoding: gzip, br"), "decoding"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ntoo short", "protocol"),
        (CHUNKED + b"ZZ\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "protocol"),
        (b"220 mail.example ESMTP\r\n", "protocol"),
        (b"", "connection"),
    ],
)
def test_a_bad_server_costs_little_time_and_gets_its_name(fetch_paths, script, kind):
    [fetched], _ = fetch_paths({"bad": script}, "bad", request=limited, timeouts=QUICK)
    assert fetched.failure.kind == kind
    assert fetched.failure.message.endswith(".")
    assert fetched.elapsed < 1


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (silence, "The server sent nothing for 0.15 s."),
        (pouring(b"HTTP/1.1 200 OK\r\n\r\n", b"drop", pause=0.02), "The response was not complete after 0.3 s."),
    ],
)
def test_silence_and_a_trickle_each_have_their_time_out(fetch_paths, script, message):
    [fetched], _ = fetch_paths({"slow": script}, "slow", timeouts=QUICK)
    assert fetched.failure.message == message


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://no-such-name.invalid/feed", "dns"),
        (f"http://{'x' * 64}.example/feed", "dns"),
        ("", "bad_address"),
        ("feed", "bad_address"),
        ("gopher://127.0.0.1/", "bad_address"),
        ("http://user:secret@127.0.0.1/", "bad_address"),
        ("http://127.0.0.1:99999/", "bad_address"),
        ("http://127.0.0.1/" + "x" * 2_000, "bad_address"),
    ],
)
def test_unreachable_and_invalid_addresses_fail_differently(fetcher, url, kind):
    async def scenario():
        async with fetcher() as client:
            return await client.fetch(FetchRequest(url))

    fetched = asyncio.run(scenario())
    assert (fetched.failure.kind, fetched.status, fetched.url) == (kind, 0, url)
    assert "secret" not in fetched.failure.message


def test_a_closed_port_is_a_failed_connection(fetcher):
    async def scenario():
        with socket.socket() as held:  # bound, so that no other program listens there
            held.bind(("127.0.0.1", 0))
            async with fetcher() as client:
                return await client.fetch(FetchRequest(f"http://127.0.0.1:{held.getsockname()[1]}/"))

    failure = asyncio.run(scenario()).failure
    assert failure.kind == "connection"
    assert "refused" in failure.message


def test_an_untrusted_certificate_is_refused(publisher, fetcher, tmp_path):
    certificate = tmp_path / "untrusted.pem"
    certificate.write_text(UNTRUSTED)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)

    async def scenario():
        async with publisher({"feed": answer(b"<rss/>")}).serving(tls=tls) as source, fetcher() as client:
            return await client.fetch(FetchRequest(f"https://127.0.0.1:{source.port}/feed")), source.requests

    fetched, requests = asyncio.run(scenario())
    assert (fetched.failure.kind, requests) == ("tls", [])
    assert "self-signed certificate" in fetched.failure.message


def test_a_server_without_tls_gets_no_plain_request(fetcher):
    heard = []

    async def talk(reader, writer):
        heard.append(await reader.read(4_096))
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def scenario():
        async with await asyncio.start_server(talk, "127.0.0.1", 0) as server, fetcher() as client:
            port = server.sockets[0].getsockname()[1]
            return await client.fetch(FetchRequest(f"https://127.0.0.1:{port}/feed"))

    assert asyncio.run(scenario()).failure.kind == "tls"
    assert heard
    assert not any(b"GET" in data for data in heard)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=300),
        st.builds(
            lambda status, name, value, body: b"HTTP/1.1 %d X\r\n%s: %s\r\n\r\n%s" % (status, name, value, body),
            st.integers(100, 999),
            st.sampled_from([b"Location", b"Content-Encoding", b"Content-Length", b"Transfer-Encoding", b"ETag", b"X"]),
            st.one_of(
                st.binary(max_size=30), st.sampled_from([b"gzip", b"br", b"deflate", b"chunked", b"//[", b"/bad"])
            ),
            st.binary(max_size=100),
        ),
    )
)
def test_whatever_bytes_a_server_sends_a_result_comes_back(fetch_paths, reply):
    [fetched], _ = fetch_paths({"bad": reply.replace(b"{port}", b"")}, "bad", open_hosts=("127.0.0.1",), timeouts=QUICK)
    if fetched.failure is None:
        assert 100 <= fetched.status <= 999
    else:
        assert "could not be read" not in fetched.failure.message  # that is what we say of errors we do not know
