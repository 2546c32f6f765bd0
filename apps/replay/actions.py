"""Make the portal read a replay."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.replay import queries
from apps.replay.algorithms.addresses import Addresses
from apps.replay.algorithms.feed import Feed
from apps.retrieval.actions import adopt_sources
from apps.sources.actions import NewSource, add_sources, edit_source


@transaction.atomic
def add_feeds(
    feeds: Sequence[Feed], addresses: Addresses, *, speed: float, min_gap: int | None, now: datetime
) -> list[int]:
    """Add the replayed feeds as sources that everybody sees and that are asked from now on; return their ids.

    `min_gap` is the shortest gap between two requests in recorded seconds, None: what politeness takes by
    default. Sources of an earlier replay at the same addresses are set to the new speed and gap.
    """
    ids = add_sources(
        [
            NewSource(
                url=addresses.feed(feed.number),
                title=feed.title,
                site_url=f"{addresses.site(feed.number)}/",
                language=feed.language,
                category=feed.category,
                listed=True,
                always_retrieved=True,
                pace=speed,
                min_gap=min_gap,
            )
            for feed in feeds
        ]
    )
    for source in queries.different_sources(ids, pace=speed, min_gap=min_gap):
        edit_source(source.pk, pace=speed, min_gap=min_gap)
    adopt_sources(ids, now=now)
    return ids
