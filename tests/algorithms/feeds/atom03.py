from datetime import UTC, datetime

from apps.sources.formats.feed import ParsedEntry, ParsedFeed

expected = ParsedFeed(
    kind="atom",
    title="Old & gold",
    link="https://old.example/",
    description="Since 2003",
    language="en",
    entries=(
        ParsedEntry(
            guid="tag:old.example,2004:1",
            link="https://old.example/1",
            title="First",
            content="<p>Gold</p>",
            published=datetime(2004, 1, 1, 15, 0, tzinfo=UTC),
            updated=datetime(2004, 1, 2, 0, 0, tzinfo=UTC),
            authors=("Mark",),
        ),
        ParsedEntry(
            guid="tag:old.example,2004:2", link="https://old.example/2", title="Second", content="<p>Silver</p>"
        ),
    ),
)
