from datetime import UTC, datetime

from apps.sources.formats.feed import ParsedEntry, ParsedFeed

expected = ParsedFeed(
    kind="rss",
    title="Salt & Pepper",
    link="https://salt.example/?a=1&b=2",
    hub_urls=("https://hub.example/",),
    entries=(
        ParsedEntry(
            guid="1",
            title="Fish & chips – again",
            content="<p>Vinegar & salt&nbsp;</p>",
            published=datetime(2024, 5, 6, 7, 0, tzinfo=UTC),
            authors=("Cook",),
            image_url="https://salt.example/1.jpg",
        ),
    ),
)
