"""Fever's API: one address that combines reads and changes."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.actions import use_fever_key
from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.actions import marking
from apps.api.formats.parameters import BadRequest
from apps.api.queries.feeds import numbered, posting_counts
from apps.api.views.access import Refused, person_by
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.queries import Scope
from apps.following.queries.listing import positions
from apps.sources import queries as sources
from extensions.dialects.fever import formats, queries
from extensions.dialects.fever.formats import MAX_ITEMS, Json, joined, moment, whole

MAX_IDS = 50_000  # latest unread or saved items
MAX_BODY_BYTES = 100_000
TOTAL_KEPT_SECONDS = 60

Parameters = Mapping[str, str]


@never_cache
@csrf_exempt
@impersonal
@require_http_methods(["GET", "POST"])
def fever(request: HttpRequest) -> HttpResponse:
    """Combines the responses to all parameters. Fever has no errors except `auth: 0`; ours are in `error`."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
        return JsonResponse(formats.not_signed_in(), status=400)
    parameters = {**request.GET.dict(), **request.POST.dict()}
    scope = AppToken.Scope.WRITE if "mark" in parameters else AppToken.Scope.READ
    try:
        # The key is not read from the query, because addresses are logged.
        person = person_by(request, request.POST.get("api_key", ""), scope, use=use_fever_key, now=now())
    except Refused as refused:
        response = formats.not_signed_in()
        if refused.status == 403:
            response = formats.signed_in(None) | {"error": str(refused)}
        return JsonResponse(response, status=200 if refused.status == 401 else refused.status)
    try:
        parts = [_mark(person, parameters)] if "mark" in parameters else []
        parts += [read(person, parameters) for name, read in _READS.items() if name in parameters]
    except BadRequest as problem:
        return JsonResponse(formats.signed_in(None) | {"error": str(problem)}, status=400)
    return JsonResponse(reduce(or_, parts, formats.signed_in(queries.refreshed_at(person))))


# --- reads ------------------------------------------------------------------------------------------------------------
def _groups(person: User, parameters: Parameters) -> Json:
    groups = queries.groups(person)
    titles = [{"id": id, "title": title} for id, (title, _feed_ids) in groups.items()]
    return {"groups": titles} | formats.feeds_groups(groups)


def _feeds(person: User, parameters: Parameters) -> Json:
    feeds = queries.feeds(person)
    favicons = formats.favicon_ids(feeds)
    found = [formats.feed_json(feed, favicons) for feed in feeds]
    return {"feeds": found} | formats.feeds_groups(queries.groups(person))


def _favicons(person: User, parameters: Parameters) -> Json:
    ids = formats.favicon_ids(queries.feeds(person))
    return {"favicons": [formats.favicon_json(ids[digest], png) for digest, png in sources.icons(ids).items()]}


def _items(person: User, parameters: Parameters) -> Json:
    """At most fifty: the given ids, those below an id in descending order, or those above one."""
    if parameters.get("with_ids"):
        ids = formats.read_ids(parameters["with_ids"])
    elif parameters.get("max_id"):
        before = whole("max_id", parameters["max_id"])
        ids = numbered(person, queries.ALL, before=before, highest_first=True, limit=MAX_ITEMS)
    else:
        ids = numbered(person, queries.ALL, after=whole("since_id", parameters.get("since_id") or 0), limit=MAX_ITEMS)
    items = [formats.item_json(item) for item in queries.items(person, ids)]
    return {"items": items, "total_items": _total(person)}


def _total(person: User) -> int:
    """Cached, because programs read thousands of items in pages of fifty, each with the total."""

    def count() -> int:
        return sum(posting_counts(person, queries.ALL).values())

    return int(cache.get_or_set(f"fever:total:{person.pk}", count, TOTAL_KEPT_SECONDS) or 0)


def _unread_ids(person: User, parameters: Parameters) -> Json:
    places = positions(person, queries.ALL, unread_only=True, limit=MAX_IDS)
    return {"unread_item_ids": joined(place.id for place in places)}


def _saved_ids(person: User, parameters: Parameters) -> Json:
    return {"saved_item_ids": joined(queries.starred_ids(person, MAX_IDS))}


# --- changes ----------------------------------------------------------------------------------------------------------
def _mark(person: User, parameters: Parameters) -> Json:
    """Changes marks, and returns the new ids, which some programs expect."""
    state, id = parameters.get("as", ""), whole("id", parameters.get("id"), least=-1)
    match parameters.get("mark"), state:
        case "item", "read" | "unread":
            marking.mark(person, [id], read=state == "read", now=now())
        case "item", "saved" | "unsaved":
            marking.star(person, id, starred=state == "saved", now=now())
            return _saved_ids(person, parameters)
        case "feed" | "group" as kind, "read":
            before = moment("before", parameters["before"]) if parameters.get("before") else None
            _mark_list(person, kind, id, before)
        case _:
            raise BadRequest("“mark” is item, feed or group, “as” is read, or of an item unread, saved or unsaved.")
    return _unread_ids(person, parameters)


def _mark_list(person: User, kind: str, id: int, before: datetime | None) -> None:
    """A feed, a group, or all for group 0, as retrieved until the program's last request."""
    scope = Scope("all") if id == 0 else Scope("folder", id)
    if kind == "feed":
        scope = Scope("sources", sources=(id,))
    at = now()
    shown_at = at if before is None else min(before, at)
    if following_queries.follows_in(person, scope).exists():
        following.marking.mark_all_read(person, scope, shown_at=shown_at, now=at)


_READS: Mapping[str, Callable[[User, Parameters], Json]] = {
    "groups": _groups,
    "feeds": _feeds,
    "favicons": _favicons,
    "items": _items,
    "links": lambda person, parameters: {"links": []},
    "unread_item_ids": _unread_ids,
    "saved_item_ids": _saved_ids,
}
