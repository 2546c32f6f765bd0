import doctest
from binascii import crc32

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.sources.algorithms import addresses
from apps.sources.algorithms.addresses import (
    BadAddress,
    absolute,
    host,
    is_tracking_parameter,
    normalise,
    partition,
    registrable_domain,
    same_page_key,
)

# Text in which addresses are likelier than in any text.
address_like = st.lists(
    st.sampled_from(
        ["http", "https", "feed", ":", "//", "/", "?", "#", "@", ".", "[", "]", "xn--", "%", "80", "example.org"]
    )
    | st.text(max_size=4),
    max_size=10,
).map("".join)


def test_the_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(addresses).failed == 0


@pytest.mark.parametrize(
    ("address", "base", "expected"),
    [
        ("HTTP://Example.ORG:80/a/./b/../c", "", "http://example.org/a/c"),
        ("https://example.org:443", "", "https://example.org/"),
        ("c?d", "https://example.org/a/b", "https://example.org/a/c?d"),
        ("//cdn.example/x", "http://example.org/", "http://cdn.example/x"),
        (" https://exa\tmple.org/a b\n", "", "https://example.org/a%20b"),
        ("https:\\\\example.org\\a", "", "https://example.org/a"),
        ("https://食狮.公司.cn/新", "", "https://xn--85x722f.xn--55qx5d.cn/%E6%96%B0"),
        ("http://0x7f.1/", "", "http://127.0.0.1/"),
        ("http://[::0:1]/", "", "http://[::1]/"),
        ("#top", "https://example.org/a", "https://example.org/a#top"),
        ("https://example.org/\ud800", "", "https://example.org/%EF%BF%BD"),
        ("https://example.org/", "no base", "https://example.org/"),
        ("relative", "", ""),
        ("relative", "mailto:someone@example.org", ""),
        ("", "https://example.org/", ""),
        (" \n", "https://example.org/", ""),
        ("javascript:alert(1)", "https://example.org/", ""),
        ("data:text/html,x", "https://example.org/", ""),
        ("http://exa mple.org/", "", ""),
        ("http://example.org:99999/", "", ""),
        ("http://xn--pokxncvks/", "", ""),
    ],
)
def test_an_address_is_absolute_and_of_the_web_or_empty(address: str, base: str, expected: str) -> None:
    assert absolute(address, base) == expected


@given(address_like, address_like)
def test_absolute_never_raises_and_is_idempotent(address: str, base: str) -> None:
    found = absolute(address, base)
    assert found == "" or found.startswith(("http://", "https://"))
    assert absolute(found) == found


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("example.org", "https://example.org/"),
        ("  example.org/feed.xml ", "https://example.org/feed.xml"),
        ("http://example.org/", "http://example.org/"),
        ("//example.org/feed", "https://example.org/feed"),
        ("feed:https://example.org/a", "https://example.org/a"),
        ("feed:http://example.org/a", "http://example.org/a"),
        ("FEED://example.org/a", "https://example.org/a"),
        ("view-source:https://example.org/a", "https://example.org/a"),
        ("view-source:feed://example.org/a", "https://example.org/a"),
        ("feed.example.org:8080/a", "https://feed.example.org:8080/a"),
        ("localhost:8000/feed", "https://localhost:8000/feed"),
        ("http://intranet/feed", "http://intranet/feed"),
        ("127.0.0.1:80/a", "https://127.0.0.1:80/a"),
        ("[::1]/a", "https://[::1]/a"),
        ("example.org/a?b=c#d", "https://example.org/a?b=c"),
        ("example.org/#", "https://example.org/"),
        ("\ufeffhttps://example.org/\u200b", "https://example.org/"),
    ],
)
def test_typed_addresses_are_normalised(typed: str, expected: str) -> None:
    assert normalise(typed) == expected


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("", "empty"),
        (" \t ", "empty"),
        ("feed:", "empty"),
        ("ftp://example.org/", "not with “ftp:”"),
        ("javascript:alert(1)", "not with “javascript:”"),
        ("file:///etc/passwd", "not with “file:”"),
        ("feed:mailto:someone@example.org", "not with “mailto:”"),
        ("https://", "no host"),
        ("/feed", "no host"),
        ("news", "“news” is not an address"),
        ("2024", "“2024” is not an address"),
        ("two words", "“two words” is not an address"),
        ("http://two words.example/", "“two words.example” is not a valid host"),
        ("example.org:99999", "“example.org:99999” is not a valid host"),
        ("https://ann:secret@example.org/", "username or password"),
        ("ann@example.org/feed", "username or password"),
        ("example.org/" + "a" * 2_000, "2,012 characters"),
        ("example.org/" + "新" * 700, "once its letters are encoded"),
    ],
)
def test_impossible_addresses_are_refused_with_a_reason(typed: str, complaint: str) -> None:
    with pytest.raises(BadAddress, match=complaint):
        normalise(typed)


@given(address_like)
@example("feed:feed://https://example.org")
@example("https://feed:80/")
def test_normalising_twice_is_normalising_once(typed: str) -> None:
    try:
        once = normalise(typed)
    except BadAddress:
        return
    assert normalise(once) == once
    assert absolute(once) == once
    assert "#" not in once


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("www.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("Example.ORG.", "example.org"),
        ("ann.github.io", "ann.github.io"),  # registered by another owner than github.io
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("foo.xn--55qx5d.cn", "foo.xn--55qx5d.cn"),
        ("", ""),
    ],
)
def test_registrable_domain_follows_the_public_suffix_list(name: str, expected: str) -> None:
    assert registrable_domain(name) == expected


def test_the_host_of_no_address_is_empty() -> None:
    assert host("no address") == ""


@given(st.sampled_from(["", "www.", "feeds."]), st.sampled_from(["http", "https"]), st.from_regex(r"\A[a-z]{1,9}\Z"))
def test_all_sources_of_a_domain_share_a_partition(prefix: str, scheme: str, name: str) -> None:
    found = partition(f"{scheme}://{prefix}{name}.example.org/feed")
    assert found == crc32(b"example.org") % 64


@pytest.mark.parametrize("name", ["utm_source", "UTM_Medium", "fbclid", "gclid", "mc_cid", "at_campaign", "pk_kwd"])
def test_parameters_that_only_follow_readers_are_known(name: str) -> None:
    assert is_tracking_parameter(name)


@pytest.mark.parametrize("name", ["id", "p", "page", "q", "v", "utm", "date", "source", "ref", ""])
def test_parameters_that_may_name_the_page_are_kept(name: str) -> None:
    assert not is_tracking_parameter(name)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/story?id=7&b",
        "https://www.example.org:443/story/?id=7&b",
        "https://EXAMPLE.org./story?utm_source=x&id=7&fbclid=y&b#part",
        "https://example.org/a/../story?&id=7&b&",
    ],
)
def test_addresses_of_one_page_have_the_same_key(address: str) -> None:
    assert same_page_key(address) == "example.org/story?id=7&b"


@pytest.mark.parametrize(
    "address",
    ["http://example.org/Story?id=7&b", "http://example.org/story?b&id=7", "http://example.org:8080/story?id=7&b"],
)
def test_addresses_that_may_be_other_pages_have_other_keys(address: str) -> None:
    assert same_page_key(address) != "example.org/story?id=7&b"


def test_non_web_address_has_no_key() -> None:
    assert same_page_key("mailto:ann@example.org") == same_page_key("story") == ""
