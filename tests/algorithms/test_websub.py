"""Leases, signatures and callbacks."""

import hashlib
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.websub.algorithms import leases
from apps.websub.algorithms.callbacks import callback_base
from apps.websub.algorithms.forms import refusal_of
from apps.websub.algorithms.signatures import METHODS, is_signed


def slow_hmac(body: bytes, secret: str, method: str) -> str:
    """As RFC 2104 defines it."""
    block = hashlib.new(method).block_size
    key = secret.encode()
    key = (hashlib.new(method, key).digest() if len(key) > block else key).ljust(block, b"\0")
    inner = hashlib.new(method, bytes(byte ^ 0x36 for byte in key) + body).digest()
    return f"{method}={hashlib.new(method, bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()}"


@given(
    st.binary(max_size=300),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=199),
    st.sampled_from(sorted(METHODS)),
)
def test_a_signature_is_that_of_the_rfc(body, secret, method):
    header = slow_hmac(body, secret, method)
    assert is_signed(header, body, [secret])
    assert is_signed(f" {header.upper().replace(method.upper(), method)} ", body, ["another", secret])
    assert not is_signed(header, body + b"!", [secret])
    assert not is_signed(header, body, [f"{secret}!"])
    assert not is_signed(header[:-1], body, [secret])
    assert not is_signed(header, body, [])


@given(st.text(max_size=200))
def test_no_header_raises(header):
    assert not is_signed(header, b"news", ["tea"])


@given(st.text(max_size=30) | st.integers(-(10**30), 10**30).map(str))
def test_a_lease_lies_between_a_second_and_a_month_and_is_renewed_before_its_end(lease_seconds):
    lease = leases.granted(lease_seconds)
    assert timedelta(seconds=1) <= lease <= timedelta(days=30)
    renewal = leases.until_renewal(lease)
    assert renewal < lease or lease <= leases.SOONEST_RENEWAL / leases.RENEWED_AFTER


def test_repetitions_come_ever_later():
    waits = [leases.until_repetition(failures) for failures in range(1, 40)]
    assert waits == sorted(waits)
    assert waits[-1] == leases.PAUSE


@pytest.mark.parametrize(
    ("url", "can_be_called"),
    [
        ("https://news.example.org", True),
        ("https://news.example.org/below/", True),
        ("http://203.0.113.7", False),  # for examples alone
        ("http://8.8.8.8:8000", True),
        ("http://[2606:4700::1111]", True),
        ("http://localhost:8000", False),
        ("http://127.0.0.1", False),
        ("http://[::1]:8000", False),
        ("http://192.168.1.2", False),
        ("http://portal", False),
        ("http://portal.local", False),
        ("http://portal.localhost", False),
        ("ftp://news.example.org", False),
        ("nonsense", False),
        ("", False),
    ],
)
def test_hubs_can_call_public_addresses_alone(url, can_be_called):
    assert callback_base(url, "auto") == (url.rstrip("/") if can_be_called else "")


@given(st.binary(max_size=200))
def test_no_answer_of_a_server_raises(answer):
    assert isinstance(refusal_of(answer), str)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"", ""),
        (b"OK", ""),
        (b"<notifyResult success='true' msg='No.'/>", ""),
        (b'<notifyResult success="false"/>', "it gives no reason"),
        (b"<notifyResult msg='Can&apos;t reach you.' success='false'/>", "Can't reach you."),
        (b'{"success":false,"msg":""}', "it gives no reason"),
    ],
)
def test_a_refusal_has_a_reason(answer, reason):
    assert refusal_of(answer) == reason
