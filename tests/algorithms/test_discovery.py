import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.algorithms import discovery
from apps.sources.algorithms.discovery import MAX_CANDIDATES, Candidate, candidates

PAGE = "https://example.org/news/today/"
CHANNEL = "UC" + "a1_-" * 5 + "zz"


def found(html: bytes | str, url: str = PAGE, link_headers: str = "") -> list[str]:
    return [candidate.url for candidate in candidates(html, url=url, link_headers=link_headers)]


def test_the_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(discovery).failed == 0


def test_declared_feeds_precede_links_that_look_like_feeds() -> None:
    html = """<html><head><meta name="generator" content="WordPress 6.5">
        <link rel="alternate" type="application/rss+xml" title="Comments on all" href="/comments/feed/">
        <link rel="ALTERNATE" type="application/atom+xml; charset=utf-8" title=" The  News " href="atom.xml"></head>
        <body><a href="/rss/sport">Sport</a></body></html>"""
    header = (
        "<https://example.org/next>; rel=next, "
        '</hub.json>; title="A, \\"B\\""; rel="x alternate"; type=application/feed+json'
    )
    assert candidates(html, url=PAGE, link_headers=header) == (
        Candidate("https://example.org/hub.json", 'A, "B"', "application/feed+json", "header"),
        Candidate("https://example.org/news/today/atom.xml", "The News", "application/atom+xml", "link"),
        Candidate("https://example.org/rss/sport", "Sport", "", "anchor"),
        Candidate("https://example.org/feed/", "", "", "guess"),
        Candidate("https://example.org/comments/feed/", "Comments on all", "application/rss+xml", "link"),
    )


@pytest.mark.parametrize("media_type", ["application/rss+xml", "application/rdf+xml", "APPLICATION/ATOM+XML"])
def test_every_type_of_feed_is_taken_from_links(media_type: str) -> None:
    assert found(f'<link rel=alternate type="{media_type}" href=/x>') == ["https://example.org/x"]


def test_json_link_needs_a_title_that_names_a_feed() -> None:
    html = """<link rel=alternate type=application/json title=JSON href=/wp-json/feed>
        <link rel=alternate type=application/json title="JSON Feed" href=/items>"""
    assert found(html) == ["https://example.org/items"]


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="alternate" hreflang="de" href="/de/">',
        '<link rel="alternate stylesheet" type="application/rss+xml" href="/x">',
        '<link rel="icon" type="application/rss+xml" href="/x">',
        '<link rel="alternate" type="application/rss+xml" href="javascript:x">',
        '<link rel="alternate" type="application/rss+xml">',
        '<a href="#feed">Feed</a>',
        '<a href="https://feedly.com/i/subscription/feed/https://example.org/feed">RSS</a>',
        '<a href="/feeding-birds">How to feed birds in the garden when the winter is long and cold and snowy</a>',
    ],
)
def test_other_links_are_skipped(link: str) -> None:
    assert {candidate.how for candidate in candidates(link, url=PAGE)} == {"guess"}


def test_relative_addresses_start_from_the_base_of_the_page() -> None:
    html = '<base href="//static.example.org/b/"><link rel=alternate type=application/rss+xml href="c.xml">'
    assert found(html) == ["https://static.example.org/b/c.xml"]


def test_links_of_the_header_start_from_the_page_itself() -> None:
    html = '<base href="//static.example.org/b/">'
    assert found(html, link_headers="<c>; rel=alternate; type=application/rss+xml") == [
        "https://example.org/news/today/c"
    ]


def test_links_whose_address_is_a_feeds_come_before_those_whose_words_say_so() -> None:
    html = """<a href="/subscribe">RSS</a> <a href="https://other.example/feed">Other</a>
        <a href="news.rss">News</a> <a href="feed://example.org/all">All</a>"""
    assert found(html) == [
        "https://example.org/news/today/news.rss",
        "https://example.org/all",
        "https://other.example/feed",
        "https://example.org/subscribe",
    ]


@pytest.mark.parametrize(
    ("url", "html", "expected"),
    [
        (
            f"https://www.youtube.com/channel/{CHANNEL}",
            "",
            f"https://www.youtube.com/feeds/videos.xml?channel_id={CHANNEL}",
        ),
        (
            "https://www.youtube.com/@ann",
            f'<script>{{"externalId":"{CHANNEL}"}}</script>',
            f"https://www.youtube.com/feeds/videos.xml?channel_id={CHANNEL}",
        ),
        ("https://www.youtube.com/playlist?list=PLx", "", "https://www.youtube.com/feeds/videos.xml?playlist_id=PLx"),
        ("https://old.reddit.com/r/python/top/", "", "https://www.reddit.com/r/python/.rss"),
        ("https://github.com/django/django/issues", "", "https://github.com/django/django/releases.atom"),
        ("https://github.com/ann", "", "https://github.com/ann.atom"),
        ("https://medium.com/@ann", "", "https://medium.com/feed/@ann"),
        ("https://ann.tumblr.com/post/1", "", "https://ann.tumblr.com/rss"),
        ("https://ann.substack.com/p/letter", "", "https://ann.substack.com/feed"),
        ("https://ann.blogspot.co.uk/2020/", "", "https://ann.blogspot.co.uk/feeds/posts/default"),
        ("https://social.example/@ann", "<p>Mastodon", "https://social.example/@ann.rss"),
        ("https://example.org/a", '<meta name=generator content="Ghost 5.2">', "https://example.org/rss/"),
        ("https://example.org/a", '<meta name=Generator content="Blogger">', "https://example.org/feeds/posts/default"),
        ("https://example.org/a", "", "https://example.org/feed"),
    ],
)
def test_known_sites_and_programs_are_guessed(url: str, html: str, expected: str) -> None:
    first = candidates(html, url=url)[0]
    assert (first.url, first.how) == (expected, "guess")


def test_a_page_is_no_feed_of_itself_and_each_feed_is_named_once() -> None:
    html = f'<a href="{PAGE}#x">RSS</a><a href="/feed#a">RSS</a><a href="/feed">Feed</a>'
    assert found(html) == ["https://example.org/feed"]


def test_a_title_in_an_undeclared_character_set_is_still_found() -> None:
    html = '<link rel=alternate type=application/rss+xml title="Neues für alle" href=/x>'
    assert candidates(html.encode(), url=PAGE)[0].title == "Neues für alle"
    declared = '<meta charset="windows-1252">' + html
    assert candidates(declared.encode("cp1252"), url=PAGE)[0].title == "Neues für alle"


def test_the_number_of_candidates_is_limited() -> None:
    assert len(found("".join(f'<a href="/rss/{number}">x</a>' for number in range(100)))) == MAX_CANDIDATES


def test_page_is_read_up_to_its_limit() -> None:
    html = " " * discovery.MAX_PAGE_BYTES + "<a href=/rss>RSS</a>"
    assert "https://example.org/rss" not in found(html)


@given(
    st.lists(
        st.sampled_from(
            ["<a href=", "<link rel=alternate ", "type=application/rss+xml", "feed:", ">", "<", '"', "<base "]
        )
        | st.text(max_size=5),
        max_size=20,
    ).map("".join),
    st.binary(max_size=30),
)
def test_discovery_never_raises(text: str, junk: bytes) -> None:
    for html in (text, text.encode("utf-8", "replace") + junk, junk):
        for candidate in candidates(html, url=text, link_headers=text):
            assert candidate.url.startswith(("http://", "https://"))
