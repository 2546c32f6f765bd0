"""The present content of each feed."""

from dataclasses import replace
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.accounts.queries.site import own_address
from apps.following import queries as following
from apps.following.models import Tagging
from apps.following.queries import Scope
from apps.following.queries.listing import listed
from apps.postings import queries as postings
from apps.published_feeds.formats.feed import Entry, Feed
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.addresses import address_by_secret
from apps.published_feeds.queries.channels import Channel, TrendList, hubs
from apps.published_feeds.queries.entries import entries_of, shared_entries
from apps.search import queries as searching
from apps.search.algorithms.language import BadQuery, parse
from apps.search.queries.addresses import query_address, search_address
from apps.search.queries.saved import saved_by_secret
from apps.stories.queries.front import members_of, story_of
from apps.stories.queries.sections import contents, section_named
from apps.trending import queries as trending
from apps.trending.models import Trend
from apps.trending.queries.names import LISTS, language_name

LENGTH = 50  # entries
MAX_LENGTH = 100  # entries of feeds and folders, which may get many an hour
Kind = PrivateAddress.Kind


def feed_of(channel: Channel, form: str, *, now: datetime) -> Feed | None:
    """The feed of a channel in its owner's language, None if there is none. At most six queries.

    Raises TooCostly for a search that takes too long.
    """
    with translation.override(settings.LANGUAGE_CODE):
        feed = _content(channel, form, now)
    if feed is None:
        return None
    title = feed.title if channel.kind == "trends" else f"{feed.title} – Wirebeat"
    address = feed.address or channel.address(form)
    return replace(feed, title=title, home=own_address(feed.home), address=address, hubs=hubs())


def _content(channel: Channel, form: str, now: datetime) -> Feed | None:
    """The feed with the path of its home page, yet without hubs and mostly without its own address."""
    match channel.kind:
        case "private":
            return _private(channel.key)
        case "search":
            return _search(channel.key, now)
        case "section":
            return _section(channel.key, now)
        case "story":
            return _story(int(channel.key), form)
        case "trends":
            return _trends(TrendList.read(channel.key))


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


def page_of(private: PrivateAddress) -> str:
    """Path of the page that shows the same to the person."""
    match private.kind:
        case Kind.FOLDER:
            return reverse("river_folder", args=[private.folder_id])
        case Kind.TAG:
            return reverse("river_tag", args=[private.tag_id])
        case Kind.STARRED:
            return reverse("river_starred")
        case Kind.SHARED:
            return reverse("shares")
        case Kind.SOURCES:
            return reverse("folders")
    return reverse("river")


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
    ids = listed(user, scope, unread_only=False, oldest_first=False, start=None, limit=MAX_LENGTH)
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


def _story(story_id: int, form: str) -> Feed | None:
    """The public postings of a story, the latest first."""
    story = story_of(story_id)
    if story is None:
        return None
    latest = members_of(story.pk).order_by("-published_at", "-posting_id").values_list("posting_id", flat=True)
    ids = list(latest[:LENGTH])
    public = postings.visible_to(AnonymousUser())
    entries = entries_of(public.filter(pk__in=ids), ids)
    if not entries:
        return None
    lead = public.filter(pk=story.lead_id).values_list("title", flat=True).first()
    return Feed(
        title=" ".join((lead or entries[-1].title).split()),
        home=reverse("story", args=[story.pk]),
        address=Channel("story", str(story.pk)).address(form),
        entries=entries,
        since=story.first_at,
    )


def _trends(chosen: TrendList) -> Feed | None:
    """A list of trends, in which a term is one entry for as long as it is listed without a break."""
    if chosen.horizon not in LISTS:
        return None
    trends = trending.lists_of(chosen.language, chosen.category, chosen.method)[chosen.horizon]
    ids = {posting_id for trend in trends for posting_id in trend.posting_ids}
    public = postings.visible_to(AnonymousUser()).filter(pk__in=ids).exclude(title="")
    titles = dict(public.values_list("pk", "title"))
    about = " – ".join(filter(None, (str(LISTS[chosen.horizon]), chosen.category, language_name(chosen.language))))
    return Feed(
        title=_("Trends: {about}").format(about=about),
        home=f"{reverse('trends')}?{chosen.key}",
        entries=tuple(_trend_entry(chosen, trend, titles) for trend in trends),
        description=_("Words published more often than usual."),
        language=chosen.language,
    )


def _trend_entry(chosen: TrendList, trend: Trend, titles: dict[int, str]) -> Entry:
    place = f"{chosen.channel.address('rss')}#{trend.number}-{trend.since:%Y%m%d%H%M}"
    return Entry(
        id=place,
        url=own_address(search_address(trend.term)),
        title=trend.term,
        html=_described(trend, titles),
        published=trend.since,
        updated=trend.since,
        listed=trend.listed_at,
        categories=tuple(trend.related),
    )


def _described(trend: Trend, titles: dict[int, str]) -> SafeString:
    counts = ngettext("{number} article", "{number} articles", trend.documents).format(number=trend.documents)
    if trend.expected is not None:
        counts += _(", usually {number}").format(number=f"{trend.expected:.1f}")
    counts += " · " + ngettext("{number} feed", "{number} feeds", trend.sources).format(number=trend.sources)
    held = [id for id in trend.posting_ids if id in titles]
    links = ((own_address(reverse("posting", args=[posting_id])), titles[posting_id]) for posting_id in held)
    description = format_html("<p>{}.</p>", counts)
    if held:
        description += format_html("<ul>{}</ul>", format_html_join("", '<li><a href="{}">{}</a></li>', links))
    return description
