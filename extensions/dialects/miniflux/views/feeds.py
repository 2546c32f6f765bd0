"""Miniflux' API: feeds, which are followed sources, and categories, which are folders."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now

from apps.accounts.models import User
from apps.accounts.views.requests import present
from apps.api.formats.parameters import BadRequest
from apps.api.formats.schemas import Category, Feed
from apps.api.queries import feeds as queries
from apps.api.queries.feeds import posting_counts
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.actions.errors import NotPossible
from apps.following.models import Folder, Follow
from apps.following.queries import Scope
from apps.retrieval.actions import source_or_lookup
from apps.retrieval.actions.following import import_list, unfollow
from apps.retrieval.http.inspection import inspect
from apps.sources import queries as sources
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.formats import opml
from apps.summaries.algorithms.reading_time import WORDS_PER_MINUTE
from extensions.dialects.miniflux import actions
from extensions.dialects.miniflux.formats.parameters import CategoryTitle, FeedChanges, Lookup, NewFeed
from extensions.dialects.miniflux.formats.responses import API_VERSION, category_json, feed_json, icon_json
from extensions.dialects.miniflux.views.endpoint import body_of, done, json_of

# Fields that a program may repeat but not change: a source is the same for all followers.
_SHARED = {"feed_url": "url", "site_url": "site_url", "description": "description"}


# --- feeds ------------------------------------------------------------------------------------------------------------
def feeds(request: HttpRequest, person: User) -> HttpResponse:
    return JsonResponse([feed_json(each, person.pk) for each in queries.feeds(person)], safe=False)


def feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    return JsonResponse(feed_json(feed_of(person, feed_id), person.pk))


def icon(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    found = feed_of(person, feed_id)
    png = sources.icons([found.icon_id or ""]).get(found.icon_id or "")
    return JsonResponse(icon_json(found, present(png, "This feed has no icon.")))


def feed_of(person: User, feed_id: int) -> Feed:
    _follow(person, feed_id)
    return queries.feeds(person, [feed_id])[0]


def _follow(person: User, feed_id: int) -> Follow:
    return present(following_queries.follow_of(person, feed_id), "There is no such feed.")


def create_feed(request: HttpRequest, person: User) -> HttpResponse:
    body = json_of(request, NewFeed)
    category_id = _known_category(person, body.category_id) or queries.ALL.id
    feed_id = actions.create_feed(person, body.feed_url, category_id, now=now())
    return JsonResponse({"feed_id": feed_id}, status=201)


def _known_category(person: User, category_id: int | None) -> int | None:
    """The id of an existing category; None or 0 if it is missing."""
    if category_id and _category(person, category_id) is None:
        raise BadRequest("This category does not exist.")
    return category_id


def update_feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    follow, present, body = _follow(person, feed_id), feed_of(person, feed_id), json_of(request, FeedChanges)
    for name, column in _SHARED.items():
        if getattr(body, name) not in (None, "", getattr(present, column), feed_json(present, person.pk)[name]):
            raise BadRequest(f"“{name}” cannot be changed: a source is the same for all who follow it.")
    if body.disabled:
        raise BadRequest("“disabled” cannot be changed: delete the feed to follow it no longer.")
    actions.update_feed(follow, **_changes(person, body, present))
    return JsonResponse(feed_json(feed_of(person, feed_id), person.pk), status=201)


def _changes(person: User, body: FeedChanges, present: Feed) -> dict[str, Any]:
    """The fields that differ."""
    wanted = {
        "title": (body.title, present.title),
        "category_id": (_known_category(person, body.category_id) or None, present.category.id),
        "muted": (body.hide_globally, present.is_muted),
        "wants_pages": (body.crawler, present.wants_pages),
    }
    return {name: value for name, (value, known) in wanted.items() if value is not None and value != known}


def delete_feed(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    _follow(person, feed_id)
    unfollow(person, feed_id, now=now())
    return done()


def feed_read(request: HttpRequest, person: User, feed_id: int) -> HttpResponse:
    _follow(person, feed_id)
    following.marking.mark_all_read(person, Scope("source", feed_id), shown_at=now(), now=now())
    return done()


def refresh(
    request: HttpRequest, person: User, feed_id: int | None = None, category_id: int | None = None
) -> HttpResponse:
    """Accepted without effect: the portal checks each source at the best time for all."""
    if feed_id is not None:
        _follow(person, feed_id)
    if category_id is not None:
        category_of(person, category_id)
    return done()


def counters(request: HttpRequest, person: User) -> HttpResponse:
    unread = following_queries.unread_counts(person)
    scope = Scope("sources", sources=tuple(each.id for each in queries.feeds(person)))
    read = {id: count - unread.get(id, 0) for id, count in posting_counts(person, scope).items()}
    return JsonResponse({"reads": {id: count for id, count in read.items() if count}, "unreads": unread})


# --- discovery --------------------------------------------------------------------------------------------------------
def discover(request: HttpRequest, person: User) -> HttpResponse:
    """The feeds of an address. Known sources are returned without a request."""
    address = json_of(request, Lookup).url
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
        raise Http404(seen.problem or "There is no feed.")
    return JsonResponse(found, safe=False)


def _found(address: str, title: str, media_type: str) -> dict[str, str]:
    kind = next((kind for kind in ("atom", "json") if kind in media_type), "rss")
    return {"url": address, "title": title, "type": kind}


# --- categories -------------------------------------------------------------------------------------------------------
def categories(request: HttpRequest, person: User) -> HttpResponse:
    shown = queries.categories(person)
    if request.GET.get("counts") != "true":
        return JsonResponse([category_json(each, person.pk) for each in shown], safe=False)
    unread, followed = following_queries.unread_counts(person), queries.feeds(person)
    counted = []
    for each in shown:
        ids = [feed.id for feed in followed if feed.category == each]
        counts = {"feed_count": len(ids), "total_unread": sum(unread.get(id, 0) for id in ids)}
        counted.append(category_json(each, person.pk) | counts)
    return JsonResponse(counted, safe=False)


def create_category(request: HttpRequest, person: User) -> HttpResponse:
    folder = actions.create_category(person, json_of(request, CategoryTitle).title)
    category = Category(queries.category_id_of(folder.pk), folder.name)
    return JsonResponse(category_json(category, person.pk), status=201)


def update_category(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    actions.rename_category(_folder(person, category_id), json_of(request, CategoryTitle).title)
    return JsonResponse(category_json(category_of(person, category_id), person.pk), status=201)


def delete_category(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    actions.delete_category(_folder(person, category_id))
    return done()


def category_of(person: User, category_id: int) -> Category:
    return present(_category(person, category_id), "There is no such category.")


def _category(person: User, category_id: int) -> Category | None:
    return next((category for category in queries.categories(person) if category.id == category_id), None)


def _folder(person: User, category_id: int) -> Folder:
    category_of(person, category_id)
    folder_id = actions.folder_id_of(category_id)
    folder = None if folder_id is None else following_queries.folder_of(person, folder_id)
    if folder is None:
        raise BadRequest("What lies in no folder cannot be renamed or deleted.")
    return folder


def category_feeds(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    return JsonResponse([feed_json(each, person.pk) for each in _feeds_in(person, category_id)], safe=False)


def category_read(request: HttpRequest, person: User, category_id: int) -> HttpResponse:
    following.marking.mark_all_read(person, category_scope(person, category_id), shown_at=now(), now=now())
    return done()


def category_scope(person: User, category_id: int) -> Scope:
    """The postings of a category. Those of muted sources are only in their own lists, as on pages."""
    return Scope("sources", sources=tuple(each.id for each in _feeds_in(person, category_id) if not each.is_muted))


def _feeds_in(person: User, category_id: int) -> list[Feed]:
    category = category_of(person, category_id)
    return [each for each in queries.feeds(person) if each.category == category]


# --- the user ---------------------------------------------------------------------------------------------------------
def mark_all_as_read(request: HttpRequest, person: User, who: str) -> HttpResponse:
    _require_oneself(person, who)
    following.marking.mark_all_read(person, Scope("all"), shown_at=now(), now=now())
    return done()


def _require_oneself(person: User, who: str) -> None:
    """Does not disclose whether another user exists."""
    if who not in (str(person.pk), person.get_username()):
        raise Http404("There is no such user.")


def user(request: HttpRequest, person: User, who: str = "") -> HttpResponse:
    _require_oneself(person, who or str(person.pk))
    values = {
        "id": person.pk,
        "username": person.get_username(),
        "is_admin": False,  # accounts are managed on pages
        "theme": "system_serif",
        "language": person.language or settings.LANGUAGE_CODE,
        "timezone": person.time_zone or settings.TIME_ZONE,
        "entry_sorting_order": "published_at",
        "entry_sorting_direction": "asc" if person.order == User.Order.OLDEST else "desc",
        "entries_per_page": 100,
        "default_reading_speed": WORDS_PER_MINUTE,
        "show_reading_time": True,
        "keyboard_shortcuts": True,
        "mark_read_on_view": True,
        "last_login_at": person.last_login and person.last_login.isoformat(timespec="seconds"),
    }
    return JsonResponse(values)


# --- lists of feeds ---------------------------------------------------------------------------------------------------
def export_feeds(request: HttpRequest, person: User) -> HttpResponse:
    document = opml.write(following_queries.subscription_list(person), now())
    return HttpResponse(document, content_type="text/xml; charset=utf-8")


def import_feeds(request: HttpRequest, person: User) -> HttpResponse:
    try:
        document = opml.read(body_of(request, opml.MAX_DOCUMENT_BYTES))
    except opml.BrokenOpml as problem:
        raise NotPossible(f"Nothing was imported, for the list cannot be read. {problem}") from problem
    report = import_list(person, document, now=now())
    words = f"Feeds imported successfully: {len(report.followed):,} new, {report.already_followed:,} known."
    return JsonResponse({"message": words}, status=201)


# --- the portal -------------------------------------------------------------------------------------------------------
def version(request: HttpRequest, person: User) -> HttpResponse:
    empty = dict.fromkeys(("build_date", "go_version", "compiler", "arch", "os"), "")
    return JsonResponse({"version": API_VERSION, "commit": f"wirebeat-{settings.VERSION}"} | empty)


def integrations(request: HttpRequest, person: User) -> HttpResponse:
    return JsonResponse({"has_integrations": False})


def flush_history(request: HttpRequest, person: User) -> HttpResponse:
    """Clear the history. The postings stay, and stay read: the portal removes none for one user."""
    following.marks.clear_history(person)
    return done(202)
