"""The present content of each feed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import F, QuerySet
from django.db.models.functions import Left
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.following import queries as following
from apps.following.models import Share, Tagging
from apps.following.queries import Scope
from apps.following.queries.listing import positions
from apps.postings import queries as postings
from apps.postings.models import Posting
from apps.published_feeds.formats.feed import Entry, Feed
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.addresses import address_by_secret
from apps.published_feeds.queries.channels import Channel
from apps.search import queries as searching
from apps.search.algorithms.language import BadQuery, parse
from apps.search.queries.addresses import query_address
from apps.search.queries.saved import saved_by_secret
from apps.sources.algorithms.addresses import absolute
from apps.sources.formats.feed import Enclosure
from apps.stories.queries.sections import contents, section_named

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
        entries.append(entry_of(posting, (listed or {}).get(posting.pk)))
    return tuple(entries)


def shared_entries(shares: QuerySet[Share]) -> tuple[Entry, ...]:
    """The articles that a person shares; like the shared pages, without anything about the person. One query."""
    found = shares.select_related("posting__source").annotate(teaser=Left(F("posting__text"), TEASER_LENGTH))
    return tuple(
        entry_of(
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


def entry_of(posting: Posting, listed: datetime | None, *, id: str = "", html: str | None = None) -> Entry:
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


LENGTH = 50  # entries
MAX_LENGTH = 100  # entries of feeds and folders, which may get many an hour
Kind = PrivateAddress.Kind


def feed_of(channel: Channel, form: str, *, now: datetime) -> Feed | None:
    """The feed of a channel in its owner's language, None if there is none. At most six queries.

    Raises TooCostly for a search that takes too long.
    """
    with translation.override(settings.LANGUAGE_CODE):
        feed = _content(channel, now)
    if feed is None:
        return None
    return feed._replace(title=f"{feed.title} – Wirebeat", home=own_address(feed.home), address=channel.address(form))


def _content(channel: Channel, now: datetime) -> Feed | None:
    """The feed with the path of its home page, without its own address."""
    match channel.kind:
        case "private":
            return _private(channel.key)
        case "search":
            return _search(channel.key, now)
        case "section":
            return _section(channel.key, now)


# --- private ----------------------------------------------------------------------------------------------------------
def _private(secret: str) -> Feed | None:
    private = address_by_secret(secret)
    if private is None or private.kind == Kind.SOURCES:
        return None
    with translation.override(private.user.language or settings.LANGUAGE_CODE):
        return Feed(
            title=name_of(private),
            home=page_of(private),
            entries=_private_entries(private),
            since=private.made_at,
        )


def name_of(private: PrivateAddress) -> str:
    match private.kind:
        case Kind.FOLDER if private.folder is not None:
            return private.folder.name
        case Kind.TAG if private.tag is not None:
            return private.tag.name
        case Kind.SHARED:
            return _("Shared articles")
    return str(Kind(private.kind).label)


_PAGES: Mapping[str, str] = {
    Kind.ALL: "river",
    Kind.FOLDER: "river_folder",
    Kind.STARRED: "river_starred",
    Kind.TAG: "river_tag",
    Kind.SHARED: "shares",
    Kind.SOURCES: "folders",
}


def page_of(private: PrivateAddress) -> str:
    """Path of the page that shows the same to the person."""
    list_id = private.folder_id or private.tag_id
    return reverse(_PAGES[private.kind], args=[list_id] if list_id else [])


def _private_entries(private: PrivateAddress) -> tuple[Entry, ...]:
    user = private.user
    match private.kind:
        case Kind.STARRED:
            marks = following.stars_of(user).order_by("-starred_at", "-pk")
            starred = marks.values_list("posting_id", "starred_at")[:LENGTH]
            return _collected(user, {posting_id: at for posting_id, at in starred if at is not None})
        case Kind.TAG:
            taggings = Tagging.objects.filter(tag=private.tag_id, tag__user=user).order_by("-tagged_at", "-pk")
            return _collected(user, dict(taggings.values_list("posting_id", "tagged_at")[:LENGTH]))
        case Kind.SHARED:
            return shared_entries(following.shares_of(user)[:LENGTH])
    scope = Scope("folder", private.folder_id) if private.folder_id is not None else Scope("all")
    ids = [place.id for place in positions(user, scope, limit=MAX_LENGTH)]
    return entries_of(postings.everything().filter(pk__in=ids), ids)


def _collected(user: User, at: dict[int, datetime]) -> tuple[Entry, ...]:
    """The articles that the person added to a list, the latest first."""
    return entries_of(following.readable_by(user).filter(pk__in=at), list(at), at) if at else ()


def _search(secret: str, now: datetime) -> Feed | None:
    """The newest results of a saved search that its owner may read."""
    saved = saved_by_secret(secret)
    if saved is None:
        return None
    try:
        found = searching.matching(saved.user, parse(saved.query), now=now)[:LENGTH]
    except BadQuery:  # saved under an older query language
        return None
    readable = following.readable_by(saved.user).filter(pk__in=found)
    return Feed(
        title=saved.name,
        home=query_address(saved.query, saved.order),
        entries=entries_of(postings.newest(readable)),
        description=_("Articles found by: {query}").format(query=saved.query),
        since=saved.saved_at,
    )


# --- public -----------------------------------------------------------------------------------------------------------
def _section(slug: str, now: datetime) -> Feed | None:
    """The first postings of a section, or the leads of its first stories."""
    section = section_named(slug)
    if section is None or not section.is_on:
        return None
    content = contents([section], now)[section.pk]
    ids = content.posting_ids[:LENGTH] or tuple(story.lead_id for story in content.stories[:LENGTH])
    readable = postings.visible_to(AnonymousUser()).filter(pk__in=ids)
    return Feed(
        title=section.title,
        home=reverse("section", args=[section.slug]),
        entries=entries_of(readable, ids),
        description=section.query or section.category or section.language,
        since=section.changed_at,
    )
