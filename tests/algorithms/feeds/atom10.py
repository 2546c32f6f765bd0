from datetime import UTC, datetime

from apps.sources.formats.feed import Enclosure, ParsedEntry, ParsedFeed

expected = ParsedFeed(
    kind="atom",
    title="Berg &amp; Tal",  # type="text" means what it says
    link="https://berg.example/blog/",
    description="Wandern im Harz",
    language="de",
    image_url="https://berg.example/blog/logo.svg",
    self_url="https://berg.example/blog/atom.xml",
    hub_urls=("https://hub.example/",),
    entries=(
        ParsedEntry(
            guid="tag:berg.example,2024:1",
            link="https://berg.example/blog/1.html",
            title="Up the Brocken",
            summary="5 &lt; 6 km",
            content='<p>Steep <img src="https://berg.example/blog/1/p.jpg"> &amp; stony</p><br>',
            published=datetime(2024, 5, 5, 8, 0, tzinfo=UTC),
            updated=datetime(2024, 5, 5, 10, 30, tzinfo=UTC),
            authors=("Uta",),
            categories=("Walks",),
            language="en",
            comments_url="https://berg.example/blog/1.html#replies",
            enclosures=(Enclosure("https://berg.example/blog/track.gpx", "application/gpx+xml", 77, title="Track"),),
        ),
        ParsedEntry(
            guid="https://berg.example/blog/2",
            link="https://berg.example/blog/2",
            title="Rain & wind",
            content='<a href="https://berg.example/blog/map">Map</a>',
            updated=datetime(2024, 5, 4, 10, 0, tzinfo=UTC),
        ),
        ParsedEntry(
            guid="urn:uuid:3",
            link="https://berg.example/blog/report.pdf",
            title="Elsewhere",
            summary="A report",
            updated=datetime(2024, 5, 3, 10, 0, tzinfo=UTC),
        ),
    ),
)
