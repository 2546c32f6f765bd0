"""Feeds that a recipe adds to, and podcasts without a feed, whose recordings are found from page to page."""

import pytest

from apps.sources import kinds
from apps.sources.formats.feed import Follow, NotAFeed, Page
from apps.sources.formats.podcast_pages import follow
from apps.sources.formats.recipes import Recipe

URL = "https://pod.example/feed"
FEED = b"""<?xml version="1.0"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
<title>Pod &amp; Co</title>
<logo>/channel.png</logo>
<item><title>One</title><link>https://pod.example/</link><guid>1</guid>
  <enclosure url="/1.mp3" type="audio/mpeg" length="7"/>
  <file>/other/1.ogg</file><media:credit src="/1.jpg"/></item>
<item><title>Two</title><link>https://pod.example/</link><guid>2</guid>
  <enclosure url="/2.mp3" type="audio/mpeg"/></item>
</channel></rss>"""


def amended(content: bytes = FEED, kind: str = "podcast", **recipe: str):
    return kinds.read(kind, [Page(content, "", URL)], Recipe(**recipe))


def test_a_podcast_keeps_its_recordings_and_takes_its_links_from_another_tag():
    one, two = amended(link="enclosure").entries
    assert (one.link, two.link) == ("https://pod.example/1.mp3", "https://pod.example/2.mp3")
    assert [file.url for file in one.enclosures] == ["https://pod.example/1.mp3"]
    assert (one.enclosures[0].length, one.guid) == (7, "1")


def test_a_recording_that_is_only_named_by_another_tag_can_be_played():
    feed = amended(link="file")
    one, two = feed.entries
    assert [(file.url, file.media_type) for file in one.enclosures] == [
        ("https://pod.example/1.mp3", "audio/mpeg"),
        ("https://pod.example/other/1.ogg", "audio/ogg"),
    ]
    assert two.link == "https://pod.example/"  # as without the recipe
    assert feed.problems == ("1 of 2 items: the link path “file” found nothing.",)


def test_pictures_of_a_feed_are_found_by_a_path():
    one, two = amended(kind="feed", image="media:credit").entries
    assert (one.image_url, two.image_url) == ("https://pod.example/1.jpg", "")
    assert {entry.image_url for entry in amended(kind="feed", image="^logo").entries} == {
        "https://pod.example/channel.png"
    }


@pytest.mark.parametrize(
    "content",
    [
        b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>A</title><pic href='/p.png'/></entry></feed>",
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'><channel/>"
        b"<item><title>A</title><pic>/p.png</pic></item></rdf:RDF>",
        b'{"version": "https://jsonfeed.org/version/1.1", "items": [7, {"title": "A", "pic": "/p.png"}]}',
        b"<rss><channel><title>A & B</title><item><title>A &nbsp;</title><pic>/p.png</pic></item></channel></rss>",
    ],
    ids=["atom", "rdf", "json", "with bare ampersands"],
)
def test_every_dialect_of_feeds_has_paths(content):
    assert [entry.image_url for entry in amended(content, "feed", image="pic").entries] == ["https://pod.example/p.png"]


def test_feed_too_broken_for_paths_is_read_without_its_recipe():
    broken = b"<rss><channel><item><title>A</title><item><title>B</title></channel>"
    feed = amended(broken, "feed", image="pic")
    assert feed.entries == amended(broken, "feed").entries
    assert not feed.entries or "too broken for the recipe" in feed.problems[-1]


# --- from page to page ------------------------------------------------------------------------------------------------
def page(body: str, path: str = "/") -> Page:
    return Page(body.encode(), "text/html", f"https://pod.example{path}")


SHOWS = page("<title>The show</title><a class=old href=/6>6</a><a class=new href=/7>7</a>")


def test_each_line_leads_to_the_next_page_and_the_last_to_the_recording():
    recipe = Recipe(
        more="//a[@class='new']\nplayer=(\\S+)\ndata = ({.*}) json|media|0|url",
        title="//h1",
        date="//time",
    )
    pages = [SHOWS]
    assert follow(pages, recipe) == Follow("https://pod.example/7")
    pages.append(page("player=/embed/7 ", "/7"))
    assert follow(pages, recipe) == Follow("https://pod.example/embed/7")
    pages.append(page('<h1>Seven</h1><time>2026-03-01</time>data = {"media": [{"url": "/7.m4a"}]}', "/embed/7"))
    [entry] = follow(pages, recipe).entries
    assert (entry.title, entry.guid, entry.link) == (
        "Seven",
        "https://pod.example/7.m4a",
        "https://pod.example/embed/7",
    )
    assert [(file.url, file.media_type) for file in entry.enclosures] == [("https://pod.example/7.m4a", "audio/mp4")]
    assert entry.published.date().isoformat() == "2026-03-01"


def test_all_recordings_of_a_page_are_found_in_their_order():
    listing = page("<a href=/2.mp3>Second</a><a href=/1.mp3>First</a><a href=/2.mp3>again</a><a href=/x>no</a>")
    feed = follow([listing], Recipe(more="//a[contains(@href, '.mp3')]"))
    assert [(entry.title, entry.link) for entry in feed.entries] == [
        ("Second", "https://pod.example/2.mp3"),
        ("First", "https://pod.example/1.mp3"),
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("//video", "Line 1, “//video”, found no web address in https://pod.example/."),
        ("href=(zz)y", "Line 1, “href=(zz)y”, found no web address"),
        ("<a (.) json|x", "found no web address"),
        ("//a/@class", "found no web address"),
    ],
)
def test_a_line_that_finds_nothing_is_named(more, message):
    with pytest.raises(NotAFeed, match="Line 1") as raised:
        follow([page("<a class='mailto:x' href='mailto:x'>")], Recipe(more=more))
    assert message in str(raised.value)


def test_a_trail_that_leads_in_a_circle_ends():
    with pytest.raises(NotAFeed, match=r"leads back to https://pod\.example/"):
        follow([page("<a href='/'>")], Recipe(more="//a\n//a"))


def test_a_recording_on_the_very_page_needs_no_second_one():
    [entry] = amended(b"<h1>Now</h1><audio src=/n.mp3>", "scrape", more="//audio", title="//h1").entries
    assert (entry.title, entry.link) == ("Now", "https://pod.example/n.mp3")
    assert amended(SHOWS.content, "scrape", more="//a[2]\n//audio") == Follow("https://pod.example/7")
