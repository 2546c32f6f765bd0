"""Postings as entries of feeds."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Left
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from apps.accounts.queries.site import own_address
from apps.following.models import Share
from apps.postings.models import Posting
from apps.published_feeds.formats.feed import Entry
from apps.sources.algorithms.addresses import absolute
from apps.sources.formats.feed import Enclosure

MAX_CHARACTERS = 4_000_000  # of markup in one feed; older entries beyond it are left out
TITLE_LENGTH = 80  # characters of the text that replace a missing title
TEASER_LENGTH = 400  # characters of a posting's text, as on its shared page
_NEEDED = (
    *("url", "title", "author", "html", "language", "categories", "image_url", "enclosures"),
    *("published_at", "retrieved_at", "edited_at", "source__title", "source__site_url"),
)


def entries_of(
    postings: QuerySet[Posting], order: Sequence[int] = (), listed: Mapping[int, datetime] | None = None
) -> tuple[Entry, ...]:
    """Postings as entries, in the order of ids if given. One query.

    `listed` has the time at which a posting was added to the list, if later than its arrival in the portal.
    """
    found = list(postings.select_related("source").only(*_NEEDED).annotate(beginning=Left(F("text"), TITLE_LENGTH)))
    if order:
        by_id = {posting.pk: posting for posting in found}
        found = [by_id[posting_id] for posting_id in order if posting_id in by_id]
    entries: list[Entry] = []
    characters = 0
    for posting in found:
        characters += len(posting.html)
        if entries and characters > MAX_CHARACTERS:
            break
        entries.append(_entry(posting, (listed or {}).get(posting.pk)))
    return tuple(entries)


def shared_entries(shares: QuerySet[Share]) -> tuple[Entry, ...]:
    """The articles that a person shares; like the shared pages, without anything about the person. One query."""
    found = shares.select_related("posting__source").annotate(teaser=Left(F("posting__text"), TEASER_LENGTH))
    return tuple(
        _entry(
            share.posting,
            share.shared_at,
            id=own_address(reverse("shared", args=[share.secret])),
            html=_teased(share.teaser, absolute(share.posting.url)),
        )
        for share in found.defer("posting__text", "posting__html", "posting__feed_html")
    )


def _teased(teaser: str, url: str) -> str:
    text = format_html("<p>{}</p>", teaser)
    return text + format_html('<p><a href="{}">{}</a></p>', url, _("Original")) if url else text


def _entry(posting: Posting, listed: datetime | None, *, id: str = "", html: str | None = None) -> Entry:
    page = own_address(reverse("posting", args=[posting.pk]))
    changed = max(filter(None, (posting.retrieved_at, posting.edited_at, listed)))
    beginning = getattr(posting, "beginning", "")
    return Entry(
        id=id or page,
        url=absolute(posting.url) or id or page,
        title=" ".join((posting.title or beginning).split()) or _("Untitled"),
        html=posting.html if html is None else html,
        published=posting.published_at,
        updated=posting.edited_at or posting.published_at,
        listed=changed,
        author=posting.author,
        categories=tuple(dict.fromkeys(posting.categories)),
        enclosures=tuple(filter(None, map(_enclosure, posting.enclosures))),
        language=posting.language,
        image=absolute(posting.image_url),
        source_title=posting.source.title,
        source_url=absolute(posting.source.site_url),
    )


def _enclosure(stored: Mapping[str, Any]) -> Enclosure | None:
    url = absolute(stored["url"])
    return Enclosure(**{**stored, "url": url}) if url else None
