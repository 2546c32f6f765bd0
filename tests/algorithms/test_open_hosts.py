"""Entries of open hosts open what they name and nothing else, and never a port that they do not name."""

import pytest

from apps.retrieval.algorithms.open_hosts import BadEntry, Entry, OpenHosts

DATABASE, USUAL = 5432, 8080


@pytest.mark.parametrize(
    ("text", "place", "port"),
    [
        ("nas.lan", "nas.lan", None),
        (" NAS.Lan.:8080", "nas.lan", 8080),
        (".lan:443", ".lan", 443),
        ("localhost", "localhost", None),
        ("10.0.0.7", "10.0.0.7/32", None),
        ("10.0.0.0/8:443", "10.0.0.0/8", 443),
        ("[fd00::]/8:443", "fd00::/8", 443),
        ("[::1]:80", "::1/128", 80),
        ("[::1]", "::1/128", None),
        ("fd00::/8", "fd00::/8", None),
    ],
)
def test_an_entry_is_a_name_or_a_network_and_may_have_a_port(text, place, port):
    entry = Entry.parse(text)
    assert (str(entry.place), entry.port) == (place, port)


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "*", "*.lan", "..lan", "nas lan", "http://nas.lan", "nas.lan/feed", "nas.lan:", "nas.lan:0",
        "nas.lan:65536", "nas.lan:http", "nas.lan:８０", "bücher.lan", "-nas.lan", "127.1", "0x7f.1", "0177.0.0.1",
        "2130706433",
        "10.0.0.1/8", "10.0.0.0/33", "[::1", "::1]", "[fe80::1%1]", "[nas.lan]:80",
    ],
)  # fmt: skip
def test_invalid_entries_are_refused_with_what_is_expected(text):
    with pytest.raises(BadEntry, match=r"opens nothing: expected a name \(nas\.lan\)") as raised:
        Entry.parse(text)
    assert repr(text) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("entry", "host", "is_open"),
    [
        ("nas.lan", "nas.lan", True),
        ("nas.lan", "nas.lan.", True),
        ("nas.lan", "a.nas.lan", False),
        (".replay.localhost", "replay.localhost", False),
        (".replay.localhost", "evilreplay.localhost", False),
        (".replay.localhost", "a.b.replay.localhost", True),
        (".replay.localhost", "replay.localhost.evil.example", False),
        ("10.0.0.0/8", "10.0.0.1", False),  # an address is checked when it is connected to
    ],
)
def test_a_name_opens_itself_or_all_below_it(entry, host, is_open):
    assert OpenHosts([entry]).opens_name(host, USUAL) == is_open


@pytest.mark.parametrize(
    ("entry", "address", "port", "may_connect"),
    [
        ("10.0.0.0/8", "10.1.2.3", USUAL, True),
        ("10.0.0.0/8", "11.0.0.1", USUAL, True),  # public anyhow
        ("10.0.0.0/8", "192.168.0.1", USUAL, False),
        ("10.0.0.0/8", "::ffff:10.1.2.3", USUAL, False),
        ("10.0.0.0/8", "10.1.2.3", DATABASE, False),
        ("10.0.0.0/8:5432", "10.1.2.3", DATABASE, True),
        ("10.0.0.0/8:5432", "10.1.2.3", USUAL, False),
        ("10.0.0.0/8:5432", "8.8.8.8", DATABASE, False),
        ("[fd00::]/8:443", "fd00::1", 443, True),
        ("[fd00::]/8:443", "fd00::1", 80, False),
        ("fe80::/10", "fe80::1%1", USUAL, True),
        ("nas.lan", "10.1.2.3", USUAL, False),
    ],
)
def test_a_network_opens_its_addresses_on_its_port(entry, address, port, may_connect):
    assert OpenHosts([entry]).may_connect(address, port) == may_connect


def test_no_entry_opens_a_blocked_port_that_it_does_not_name():
    for entry in ("nas.lan", ".lan", "nas.lan:8080"):
        opened = OpenHosts([entry])
        assert not opened.opens_name("nas.lan", DATABASE)
        assert not opened.may_have_port("nas.lan", DATABASE)
    named = OpenHosts(["nas.lan:5432"])
    assert named.may_have_port("nas.lan", DATABASE)
    assert not named.may_have_port("other.lan", DATABASE)
    assert not named.opens_name("nas.lan", USUAL)


def test_without_entries_only_the_public_internet_is_open():
    closed = OpenHosts()
    assert closed.may_connect("8.8.8.8", 443)
    assert not closed.may_connect("8.8.8.8", DATABASE)
    assert not closed.may_connect("127.0.0.1", 443)
    assert not closed.opens_name("s1.replay.localhost", 8700)
