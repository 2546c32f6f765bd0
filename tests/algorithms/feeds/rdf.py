from datetime import UTC, datetime

from apps.sources.formats.feed import ParsedEntry, ParsedFeed, UpdateHints

expected = ParsedFeed(
    kind="rdf",
    title="Café",
    link="https://cafe.example/",
    description="Coffee",
    language="fr",
    image_url="https://cafe.example/cup.png",
    hints=UpdateHints(ttl=900),
    entries=(
        ParsedEntry(
            guid="https://cafe.example/1",
            link="https://cafe.example/1",
            title="Grand crème",
            summary="Milk <b>and</b> coffee",
            published=datetime(2004, 2, 13, 15, 20, tzinfo=UTC),
            authors=("Jeanne",),
            categories=("Milk",),
        ),
    ),
)
