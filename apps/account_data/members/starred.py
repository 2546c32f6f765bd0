"""Starred postings as a feed for other readers. Not imported: the marks contain the stars."""

from collections.abc import Iterator

from django.utils.timezone import now as clock

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.following import queries as following
from apps.following.models import Mark
from apps.published_feeds.formats import atom
from apps.published_feeds.formats.feed import Entry, Feed

AT_ONCE = 100  # postings, with their texts


def write(user: User) -> Iterator[bytes]:
    title = f"Starred by {user.get_username()}"
    feed = Feed(title, home="", address="", id=own_address(f"/people/{user.pk}/starred"), since=clock())
    return atom.pieces(feed, _entries(user))


def _entries(user: User) -> Iterator[Entry]:
    starred = following.stars_of(user).order_by("posting_id")
    last = 0
    while batch := list(starred.filter(posting_id__gt=last).select_related("posting__source")[:AT_ONCE]):
        yield from map(_entry, batch)
        last = batch[-1].posting_id


def _entry(mark: Mark) -> Entry:
    posting = mark.posting
    url = posting.url if posting.url.startswith(("http://", "https://")) else ""
    return Entry(
        id=url or own_address(f"/posting/{posting.pk}/"),
        title=posting.title,
        url=url,
        html=posting.html,
        author=posting.author,
        published=posting.published_at,
        updated=posting.edited_at or posting.published_at,
        listed=mark.changed_at,
        source_title=posting.source.title,
        source_url=posting.source.url,
    )
