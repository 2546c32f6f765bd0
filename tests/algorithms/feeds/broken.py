from datetime import UTC, datetime

from apps.sources.formats.feed import Enclosure, ParsedEntry, ParsedFeed

expected = ParsedFeed(
    kind="rss",
    title="Salt & Pepper",
    link="https://salt.example/",
    entries=(
        ParsedEntry(
            guid="1",
            link="https://salt.example/1?a=1&b=2",
            title="Fish & chips again",
            summary="<p>Vinegar & salt</p>",
            published=datetime(2024, 5, 6, 7, 0, tzinfo=UTC),
            authors=("Cook",),
            categories=("Food",),
            enclosures=(Enclosure("https://salt.example/1.mp3", "audio/mpeg", 5),),
        ),
    ),
)
