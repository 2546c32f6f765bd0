"""Miniflux' API: feeds, which are followed sources, and categories, which are folders."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now

from apps.accounts.models import User
from apps.api.dialects.miniflux import actions
from apps.api.dialects.miniflux.actions import FeedChange
from apps.api.dialects.miniflux.formats.responses import category_json, feed_json
from apps.api.dialects.miniflux.views.endpoint import NotThere, done, json_of, resource
from apps.api.formats.parameters import BadRequest, text, truth, whole
from apps.api.formats.schemas import Category, Feed
from apps.api.queries import feeds as queries
from apps.api.queries.visible import posting_counts
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.models import Folder, Follow
from apps.following.queries import Scope
from apps.retrieval.actions import source_or_lookup
from apps.retrieval.actions.following import unfollow
from apps.retrieval.http.inspection import inspect
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import MAX_ADDRESS_LENGTH, BadAddress, normalise

MAX_TITLE_LENGTH = 1_000  # characters
# What a program may send back as it was told, and cannot change: a source is the same for all who follow it.
_SHARED = {"feed_url": "url", "site_url": "site_url", "description": "description"}


# --- feeds ------------------------------------------------------------------------------------------------------------
def _feeds(request: HttpRequest, person: User) -> HttpResponse:
    return JsonResponse([feed_json(feed, person.pk) for feed in queries.feeds(person)], safe=False)


def _feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    return JsonResponse(feed_json(feed_of(person, feed_id), person.pk))


def feed_of(person: User, feed_id: int) -> Feed:
    _follow(person, feed_id)
    return queries.feeds(person, [feed_id])[0]


def _follow(person: User, feed_id: int) -> Follow:
    follow = following_queries.follow_of(person, feed_id)
    if follow is None:
        raise NotThere("There is no such feed.")
    return follow


def _create_feed(request: HttpRequest, person: User) -> HttpResponse:
    said = json_of(request)
    address = text("feed_url", said.get("feed_url"), most=MAX_ADDRESS_LENGTH)
    category_id = _known_category(person, said.get("category_id"))
    feed_id = actions.create_feed(person, address, category_id or queries.ALL.id, now=now())
    return JsonResponse({"feed_id": feed_id}, status=201)


def _known_category(person: User, said: object) -> int | None:
    """The number of a category of the person's; None if nothing is said, which some write as zero."""
    if said is None or said == 0:
        return None
    category_id = whole("category_id", said)
    if queries.category_of(person, category_id) is None:
        raise BadRequest("This category does not exist.")
    return category_id


def _update_feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    follow, feed, said = _follow(person, feed_id), feed_of(person, feed_id), json_of(request)
    for name, column in _SHARED.items():
        if said.get(name) not in (None, "", getattr(feed, column), feed_json(feed, person.pk)[name]):
            raise BadRequest(f"“{name}” cannot be changed: a source is the same for all who follow it.")
    if said.get("disabled"):
        raise BadRequest("“disabled” cannot be changed: delete the feed to follow it no longer.")
    actions.update_feed(follow, _wish(person, said, feed))
    return JsonResponse(feed_json(feed_of(person, feed_id), person.pk), status=201)


def _wish(person: User, said: dict[str, Any], feed: Feed) -> FeedChange:
    """What is to be another. Programs send back what they were told, too: that is no wish."""

    def chosen(name: str, present: bool) -> bool | None:
        wanted = present if said.get(name) is None else truth(name, said[name])
        return None if wanted == present else wanted

    title = feed.title if said.get("title") is None else text("title", said["title"], most=MAX_TITLE_LENGTH)
    category_id = _known_category(person, said.get("category_id"))
    return FeedChange(
        title=None if title == feed.title else title,
        category_id=None if category_id == feed.category.id else category_id,
        muted=chosen("hide_globally", feed.is_muted),
        wants_pages=chosen("crawler", feed.wants_pages),
    )


def _delete_feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    _follow(person, feed_id)
    unfollow(person, feed_id, now=now())
    return done()


def _feed_read(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    _follow(person, feed_id)
    following.mark_all_read(person, Scope("source", feed_id), shown_at=now(), now=now())
    return done()


def _refresh_feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    """The wish is heard, and changes nothing: the portal asks each source when that is worth most, for all."""
    _follow(person, feed_id)
    return done()


def _refresh_all(request: HttpRequest, person: User) -> HttpResponse:
    return done()


def _counters(request: HttpRequest, person: User) -> HttpResponse:
    unread = following_queries.unread_counts(person)
    feeds = Scope("sources", sources=tuple(feed.id for feed in queries.feeds(person)))
    read = {id: count - unread.get(id, 0) for id, count in posting_counts(person, feeds).items()}
    return JsonResponse({"reads": {id: count for id, count in read.items() if count}, "unreads": unread})


def _feed_icon(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    _follow(person, feed_id)
    raise NotThere("This feed has no icon.")


def _icon(request: HttpRequest, person: User, icon_id: int) -> HttpResponse:
    raise NotThere("There is no such icon.")


feeds = resource(GET=_feeds, POST=_create_feed)
feed = resource(GET=_feed, PUT=_update_feed, DELETE=_delete_feed)
feed_read = resource(PUT=_feed_read)
feed_refresh = resource(PUT=_refresh_feed)
feeds_refresh = resource(PUT=_refresh_all)
counters = resource(GET=_counters)
feed_icon = resource(GET=_feed_icon)
icon = resource(GET=_icon)


# --- discovery --------------------------------------------------------------------------------------------------------
def _discover(request: HttpRequest, person: User) -> HttpResponse:
    """What feeds an address has. Of one that the portal knows it says so, and asks nobody."""
    address = text("url", json_of(request).get("url"), most=MAX_ADDRESS_LENGTH)
    try:
        url = normalise(address)
    except BadAddress as problem:
        raise BadRequest(str(problem)) from problem
    known = source_or_lookup(person, url)
    if known is not None:
        source = sources.everything().get(pk=known)
        return JsonResponse([_found(source.url, str(source), "")], safe=False)
    seen = inspect(url, now=now())
    found = [_found(choice.url, choice.title or choice.url, choice.media_type) for choice in seen.choices]
    if seen.feed is not None:
        found = [_found(address, seen.feed.title or address, "")]
    if not found:
        raise NotThere(seen.problem or "There is no feed.")
    return JsonResponse(found, safe=False)


def _found(address: str, title: str, media_type: str) -> dict[str, str]:
    kind = next((kind for kind in ("atom", "json") if kind in media_type), "rss")
    return {"url": address, "title": title, "type": kind}


discover = resource(POST=_discover)


# --- categories -------------------------------------------------------------------------------------------------------
def _categories(request: HttpRequest, person: User) -> HttpResponse:
    shown = queries.categories(person)
    if request.GET.get("counts") != "true":
        return JsonResponse([category_json(each, person.pk) for each in shown], safe=False)
    unread, feeds = following_queries.unread_counts(person), queries.feeds(person)
    counted = []
    for each in shown:
        ids = [feed.id for feed in feeds if feed.category == each]
        counts = {"feed_count": len(ids), "total_unread": sum(unread.get(id, 0) for id in ids)}
        counted.append(category_json(each, person.pk) | counts)
    return JsonResponse(counted, safe=False)


def _create_category(request: HttpRequest, person: User) -> HttpResponse:
    folder = actions.create_category(person, _title(request))
    category = Category(queries.category_id_of(folder.pk), folder.name)
    return JsonResponse(category_json(category, person.pk), status=201)


def _title(request: HttpRequest) -> str:
    title = text("title", json_of(request).get("title"), most=MAX_TITLE_LENGTH)
    if not title:
        raise BadRequest("The title is mandatory.")
    return title


def _update_category(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    actions.rename_category(_folder(person, category_id), _title(request))
    return JsonResponse(category_json(category_of(person, category_id), person.pk), status=201)


def _delete_category(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    actions.delete_category(_folder(person, category_id))
    return done()


def category_of(person: User, category_id: int) -> Category:
    category = queries.category_of(person, category_id)
    if category is None:
        raise NotThere("There is no such category.")
    return category


def _folder(person: User, category_id: int) -> Folder:
    category_of(person, category_id)
    folder_id = queries.folder_id_of(category_id)
    folder = None if folder_id is None else following_queries.folder_of(person, folder_id)
    if folder is None:
        raise BadRequest("What lies in no folder cannot be renamed or deleted.")
    return folder


def _category_feeds(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    category = category_of(person, category_id)
    its = [feed_json(feed, person.pk) for feed in queries.feeds(person) if feed.category == category]
    return JsonResponse(its, safe=False)


def _category_read(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    following.mark_all_read(person, category_scope(person, category_id), shown_at=now(), now=now())
    return done()


def category_scope(person: User, category_id: int) -> Scope:
    """The list of a category's postings. Those of muted sources are in their own lists alone, as on the pages."""
    category = category_of(person, category_id)
    its = (feed.id for feed in queries.feeds(person) if feed.category == category and not feed.is_muted)
    return Scope("sources", sources=tuple(its))


def _refresh_category(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    category_of(person, category_id)
    return done()


categories = resource(GET=_categories, POST=_create_category)
category = resource(PUT=_update_category, DELETE=_delete_category)
category_feeds = resource(GET=_category_feeds)
category_read = resource(PUT=_category_read)
category_refresh = resource(PUT=_refresh_category)
