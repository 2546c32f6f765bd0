from datetime import UTC, datetime

from apps.sources.formats.feed import Enclosure, ParsedEntry, ParsedFeed

expected = ParsedFeed(
    kind="json",
    title="Garden notes",
    link="https://garden.example/",
    description="What grows",
    language="en",
    image_url="https://garden.example/icon.png",
    self_url="https://garden.example/feed.json",
    hub_urls=("https://hub.example/",),
    entries=(
        ParsedEntry(
            guid="17",
            link="https://garden.example/beans",
            title="Beans & <peas>",
            summary="<p>On beans</p>",
            content="<p>Beans</p>",
            published=datetime(2024, 5, 6, 5, 0, tzinfo=UTC),
            updated=datetime(2024, 5, 6, 6, 0, tzinfo=UTC),
            authors=("Flora",),
            categories=("vegetables",),
            language="en-GB",
            image_url="https://garden.example/beans.jpg",
            enclosures=(Enclosure("https://garden.example/b.mp3", "audio/mpeg", 99, duration=7),),
        ),
        ParsedEntry(
            guid="https://garden.example/peas",
            link="https://garden.example/peas",
            content="<p>Peas<br>in a row &lt;b&gt;</p><p>again</p>",
            authors=("Old Tom",),
        ),
    ),
)
