from datetime import UTC, datetime

from apps.sources.formats.feed import Enclosure, ParsedEntry, ParsedFeed, UpdateHints

expected = ParsedFeed(
    kind="rss",
    title="Night Train",
    link="https://train.example/",
    description="Talks on rails",
    image_url="https://train.example/cover.jpg",
    new_url="https://new.example/podcast.xml",
    hints=UpdateHints(ttl=14 * 24 * 3600),
    entries=(
        ParsedEntry(
            guid="episode-7",
            title="Dining car",
            summary="<p>Soup.</p><p>And more soup.</p>",
            published=datetime(2024, 5, 5, 4, 59, tzinfo=UTC),
            authors=("Otto",),
            categories=("food", "trains"),
            image_url="https://train.example/7.jpg",
            enclosures=(Enclosure("https://train.example/7.mp3", "audio/mpeg", 1000, duration=3723),),
        ),
    ),
)
