from datetime import UTC, datetime

from apps.sources.formats.feed import Enclosure, ParsedEntry, ParsedFeed, UpdateHints

expected = ParsedFeed(
    kind="rss",
    title="Harbour & Hill",
    link="https://harbour.example/",
    description="News of the coast",
    language="en-GB",
    image_url="https://harbour.example/logo.png",
    self_url="https://harbour.example/feed",
    hub_urls=("https://hub.example/", "https://second-hub.example/"),
    hints=UpdateHints(ttl=5400, skip_hours=frozenset({0, 5}), skip_days=frozenset({5, 6})),
    entries=(
        ParsedEntry(
            guid="harbour-1",
            link="https://harbour.example/ferry?from=feed",
            title="Ferry returns – at last",
            summary="The ferry is <i>back</i>.",
            content='<p>The ferry is <a href="/timetable">back</a>.</p>',
            published=datetime(2024, 5, 6, 8, 15, tzinfo=UTC),
            authors=("The Desk", "Ann Author"),
            categories=("Sea", "Transport", "ferry"),
            image_url="https://cdn.example/ferry.jpg",
            comments_url="https://harbour.example/ferry#comments",
            enclosures=(
                Enclosure("https://cdn.example/horn.mp3", "audio/mpeg", 12345),
                Enclosure("https://cdn.example/ferry.mp4", "video/mp4", 999, duration=61),
            ),
        ),
        ParsedEntry(
            guid="https://harbour.example/permalink",
            link="https://harbour.example/permalink",
            summary="Without a title",
            published=datetime(2024, 5, 5, 8, 0, tzinfo=UTC),
            image_url="https://cdn.example/large.jpg",
        ),
        ParsedEntry(guid="12345", title="Why List<String> fails"),
    ),
)
