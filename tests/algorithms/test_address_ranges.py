"""Which addresses are public, against what the standard library knows of them."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.retrieval.algorithms.address_ranges import is_public


@given(st.ip_addresses())
def test_addresses_that_the_standard_library_calls_private_are_never_public(address):
    special = (
        address.is_private or address.is_loopback or address.is_link_local or address.is_multicast
        or address.is_reserved or address.is_unspecified
    )  # fmt: skip
    assert not (special and is_public(str(address)))


@given(st.ip_addresses(v=4))
def test_an_address_that_carries_another_is_not_public(inner):
    number = int(inner)
    carriers = [0xFFFF << 32 | number, number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80,
                0x20010000 << 96 | number ^ 0xFFFFFFFF]  # fmt: skip
    assert not any(is_public(str(IPv6Address(carrier))) for carrier in carriers)


@pytest.mark.parametrize(
    ("first", "last"),
    [("9.255.255.255", "11.0.0.0"), ("100.63.255.255", "100.128.0.0"), ("126.255.255.255", "128.0.0.0"),
     ("169.253.255.255", "169.255.0.0"), ("172.15.255.255", "172.32.0.0"), ("192.167.255.255", "192.169.0.0"),
     ("198.17.255.255", "198.20.0.0"), ("223.255.255.255", None)],
)  # fmt: skip
def test_ranges_end_where_they_should(first, last):
    assert is_public(first)
    assert not is_public(str(IPv4Address(first) + 1))
    if last:
        assert is_public(last)
        assert not is_public(str(IPv4Address(last) - 1))


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::1"])
def test_the_public_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.0.0.1", "fe80::1%eth0", "8.8.8.8 ", "8.8.8.8/32"])
def test_unusual_spellings_of_addresses_are_not_public(text):
    assert not is_public(text)
