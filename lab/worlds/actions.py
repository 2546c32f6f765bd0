"""Make the portal read a replay."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from django.db import transaction

from apps.accounts.models import User
from apps.following.actions.follows import create_folder, follow
from apps.postings import actions as postings
from apps.retrieval.actions import adopt_sources
from apps.sources.actions.editing import add_sources, edit_source
from apps.sources.formats.feed import ParsedEntry
from apps.sources.models import Source
from lab.worlds import queries
from lab.worlds.addresses import Addresses
from lab.worlds.feed import Feed
from lab.worlds.rendering import Entry, make_entry
from lab.worlds.timeline import Timeline

CHUNK = 200  # postings stored in one transaction


@transaction.atomic
def add_feeds(
    feeds: Sequence[Feed], addresses: Addresses, *, speed: float, min_gap: int | None, now: datetime
) -> list[int]:
    """Add the replayed feeds as listed sources that are due now; return their ids.

    `min_gap` is the shortest gap between two requests in recorded seconds, by default the rate limit of
    politeness. Sources of an earlier replay at the same addresses are set to the new speed and gap.
    """
    ids = add_sources(
        [
            Source(
                url=addresses.feed(feed.number),
                title=feed.title,
                site_url=f"{addresses.site(feed.number)}/",
                language=feed.language,
                category=feed.category,
                listed=True,
                always_retrieved=True,
                clock_rate=speed,
                min_gap=min_gap,
            )
            for feed in feeds
        ]
    )
    for source in queries.different_sources(ids, clock_rate=speed, min_gap=min_gap):
        edit_source(source.pk, clock_rate=speed, min_gap=min_gap)
    adopt_sources(ids, now=now)
    return ids


@transaction.atomic
def follow_in_folders(user: User, feeds: Iterable[Source], *, now: datetime) -> None:
    """Follow feeds, in folders by category."""
    chosen = list(feeds)
    for category in sorted({feed.category for feed in chosen}):
        ids = [feed.pk for feed in chosen if feed.category == category]
        follow(user, ids, now=now, folder_ids=[create_folder(user, category).pk] if category else [])


def store_history(feed: Feed, source_id: int, addresses: Addresses, timeline: Timeline, *, now: datetime) -> int:
    """Store the postings published so far, as if the feed had always been checked; return the number of new ones."""
    count = feed.count_until(timeline.recorded(now.timestamp()))
    new = 0
    for first in range(0, count, CHUNK):
        entries = [
            _parsed(make_entry(feed, posting, timeline, addresses))
            for posting in range(first, min(first + CHUNK, count))
        ]
        document = postings.Document(
            source_id=source_id,
            entries=entries,
            address=addresses.feed(feed.number),
            feed_link=f"{addresses.site(feed.number)}/",
            language=feed.language,
            received_at=now,
        )
        new += postings.store([document])[0].new
    return new


def _parsed(entry: Entry) -> ParsedEntry:
    """An entry as the portal reads it, but with a date finer than the second that feeds write."""
    return ParsedEntry(
        guid=entry.guid,
        link=entry.link,
        title=entry.title,
        summary=entry.summary,
        content=entry.content,
        published=datetime.fromtimestamp(entry.published, UTC),
    )
