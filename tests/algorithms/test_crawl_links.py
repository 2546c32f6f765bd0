from html import escape

from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction.documents import read_page
from apps.retrieval.algorithms.crawl.links import MAX_LINKS, Link, RobotsDirectives, links_of, robots_directives
from apps.sources.algorithms.addresses import absolute

URL = "https://example.org/news/"


def links(html: str, url: str = URL) -> list[Link]:
    root = read_page(html.encode()).root
    return [] if root is None else links_of(root, url)


def directives(html: str, *, header: str = "") -> RobotsDirectives:
    return robots_directives(read_page(html.encode()).root, header=header)


hrefs = st.sampled_from(
    ["a", "/b", "a#part", "../c?x=1", "//other.example/d", "https://e.example/", "mailto:a@b.example", "#top", "",
     "javascript:void(0)", "x.pdf", "photo.JPG?size=2", "ftp://e.example/f", "./"]
)  # fmt: skip
texts = st.sampled_from(["", "More", "Council keeps the old bridge open", "Read on", "The council has decided"])


@given(st.lists(st.tuples(hrefs, texts), max_size=12))
def test_links_are_what_a_slow_reading_finds(anchors):
    expected: dict[str, str] = {}
    for href, text in anchors:
        address = absolute(href, URL).split("#")[0]
        if href.startswith("#") or address in ("", URL) or address.lower().split("?")[0].endswith((".pdf", ".jpg")):
            continue
        expected[address] = max(expected.get(address, ""), text, key=len)
    html = "".join(f'<p><a href="{escape(href)}">{text}</a></p>' for href, text in anchors)
    assert {link.url: len(link.text) for link in links(html)} == {url: len(text) for url, text in expected.items()}
    assert [link.url for link in links(html)] == list(expected)


def test_the_longest_text_of_equal_links_wins():
    html = (
        '<a href=/1><img src=x alt="A bridge"></a><a href=/1>Council keeps the old bridge open</a><a href=/1>More</a>'
    )
    assert links(html) == [Link("https://example.org/1", "Council keeps the old bridge open", is_headline=True)]


def test_a_card_is_called_by_its_heading():
    html = "<a href=/1><p>Politics</p><h3>Council keeps the old bridge open</h3><p>A long text of what it said.</p></a>"
    assert links(html)[0].text == "Council keeps the old bridge open"


def test_a_picture_stands_for_its_description():
    assert links('<a href=/1><img alt="A bridge"></a><a href=/2 title="The river"></a>') == [
        Link("https://example.org/1", "A bridge"),
        Link("https://example.org/2", "The river"),
    ]


def test_the_base_of_a_page_counts():
    assert links('<head><base href="/other/"></head><a href="1">x</a>')[0].url == "https://example.org/other/1"


def test_links_that_are_not_to_be_followed_are_left_out():
    html = (
        '<a href=/1 rel="NOFOLLOW noopener">x</a><a href=/2 rel=ugc>x</a><a href=/3 rel=sponsored>x</a><a href=/4>y</a>'
    )
    assert [link.url for link in links(html)] == ["https://example.org/4"]


def test_no_page_has_more_than_some_thousand_links():
    html = "".join(f"<p><a href=/{number}>x</a>" for number in range(MAX_LINKS + 10))
    assert len(links(html)) == MAX_LINKS


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_address_or_text_breaks_links(href, text):
    for link in links(f'<a href="{escape(href)}">{escape(text)}</a>'):
        assert link.url.startswith(("http://", "https://"))
        assert "#" not in link.url


def test_directives_for_crawlers_come_from_the_page_and_from_the_header():
    assert directives('<head><meta name=robots content="noindex, nofollow"></head>') == RobotsDirectives(
        noindex=True, nofollow=True
    )
    assert directives('<head><meta name=Robots content="none"></head>') == RobotsDirectives(noindex=True, nofollow=True)
    assert directives('<head><meta name=googlebot content="noindex"></head>') == RobotsDirectives()
    assert directives("<p>", header="googlebot: noindex, max-snippet: 20") == RobotsDirectives()
    assert directives("<p>", header="wirebeat: noindex") == RobotsDirectives(noindex=True)
    assert directives("<p>", header="nofollow") == RobotsDirectives(nofollow=True)
