"""Fever's API: one address that answers all that a request names at once."""

from collections.abc import Callable, Mapping
from datetime import datetime

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.actions import marking
from apps.api.dialects.fever import formats, queries
from apps.api.dialects.fever.formats import MAX_ITEMS, Json, joined
from apps.api.formats.parameters import BadRequest, moment, whole
from apps.api.queries.visible import numbered, posting_counts, starred_ids
from apps.api.views.access import Refused, person_by_fever_key
from apps.following import actions as following
from apps.following import queries as following_queries
from apps.following.queries import Scope
from apps.following.queries.listing import listed

MAX_IDS = 50_000  # unread or saved items, the latest ones
MAX_BODY_BYTES = 100_000  # bytes
TOTAL_KEPT = 60  # s
MAX_RANGE_DAYS = 366  # days
MAX_PAGE = 1_000

Said = Mapping[str, str]


@never_cache
@csrf_exempt
@impersonal
@require_http_methods(["GET", "POST"])
def fever(request: HttpRequest) -> HttpResponse:
    """Who does not sign in hears that, and nothing else; what is wrong otherwise Fever has no words for."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_BODY_BYTES:
        return JsonResponse(formats.not_signed_in(), status=400)
    said = {**request.GET.dict(), **request.POST.dict()}
    changes = [name for name in _CHANGES if name in said]
    scope = AppToken.Scope.WRITE if changes else AppToken.Scope.READ
    try:
        # Of the address only the rest is read: addresses are written into logs.
        person = person_by_fever_key(request, request.POST.get("api_key", ""), scope, now=now())
    except Refused as refused:
        answer = formats.not_signed_in()
        if refused.status == 403:
            answer = formats.signed_in(None) | {"error": str(refused)}
        return JsonResponse(answer, status=200 if refused.status == 401 else refused.status)
    try:
        answered = [_CHANGES[name](person, said) for name in changes]
        answered += [answer(person, said) for name, answer in _READS.items() if name in said]
    except BadRequest as problem:
        return JsonResponse(formats.signed_in(None) | {"error": str(problem)}, status=400)
    whole_answer = formats.signed_in(queries.refreshed_at(person))
    for part in answered:
        whole_answer |= part
    return JsonResponse(whole_answer)


# --- what is read -----------------------------------------------------------------------------------------------------
def _groups(person: User, said: Said) -> Json:
    groups = queries.groups(person)
    return {"groups": [formats.group_json(group) for group in groups], "feeds_groups": formats.feeds_groups(groups)}


def _feeds(person: User, said: Said) -> Json:
    feeds = [
        formats.feed_json(feed.id, feed.title, feed.url, feed.site_url, feed.checked_at)
        for feed in queries.feeds(person)
    ]
    return {"feeds": feeds, "feeds_groups": formats.feeds_groups(queries.groups(person))}


def _favicons(person: User, said: Said) -> Json:
    return {"favicons": []}


def _items(person: User, said: Said) -> Json:
    """Fifty at most: those named, those below a number from there down, or those above one."""
    if said.get("with_ids"):
        ids = formats.read_ids(said["with_ids"])
    elif said.get("max_id"):
        before = whole("max_id", said["max_id"])
        ids = numbered(person, queries.ALL, before=before, highest_first=True, limit=MAX_ITEMS)
    else:
        ids = numbered(person, queries.ALL, after=whole("since_id", said.get("since_id") or 0), limit=MAX_ITEMS)
    items = [formats.item_json(item) for item in queries.items(person, ids)]
    return {"items": items, "total_items": _total(person)}


def _total(person: User) -> int:
    """As of a minute ago: programs ask for thousands of items fifty at a time, and are told it each time."""

    def count() -> int:
        return sum(posting_counts(person, queries.ALL).values())

    return int(cache.get_or_set(f"fever:total:{person.pk}", count, TOTAL_KEPT) or 0)


def _links(person: User, said: Said) -> Json:
    offset = min(whole("offset", said.get("offset") or 0), MAX_RANGE_DAYS)
    days = min(whole("range", said.get("range") or 7), MAX_RANGE_DAYS)
    page = min(whole("page", said.get("page") or 1, least=1), MAX_PAGE)
    found = queries.links(person, now(), offset=offset, days=days, page=page, length=MAX_ITEMS)
    return {"links": [formats.link_json(link) for link in found]}


def _unread_ids(person: User, said: Said) -> Json:
    ids = listed(person, queries.ALL, unread_only=True, oldest_first=False, start=None, limit=MAX_IDS)
    return {"unread_item_ids": joined(ids)}


def _saved_ids(person: User, said: Said) -> Json:
    return {"saved_item_ids": joined(starred_ids(person, MAX_IDS))}


# --- what is changed --------------------------------------------------------------------------------------------------
def _mark(person: User, said: Said) -> Json:
    """What was meant, and how things stand then: some programs wait for that."""
    state, id = said.get("as", ""), whole("id", said.get("id"), least=-1)
    match said.get("mark"), state:
        case "item", "read" | "unread":
            marking.mark(person, [id], read=state == "read", now=now())
        case "item", "saved" | "unsaved":
            marking.star(person, id, starred=state == "saved", now=now())
            return _saved_ids(person, said)
        case "feed" | "group", "read":
            _mark_list(person, str(said["mark"]), id, moment("before", said["before"]) if said.get("before") else None)
        case _:
            raise BadRequest("“mark” is item, feed or group, “as” is read, or of an item unread, saved or unsaved.")
    return _unread_ids(person, said)


def _mark_list(person: User, kind: str, id: int, before: datetime | None) -> None:
    """A feed, a group, or with group 0 all, as far as it had reached us when the program last asked."""
    scope = Scope("all") if id == 0 else Scope("folder", id)
    if kind == "feed":
        scope = Scope("sources", sources=(id,))
    at = now()
    shown_at = at if before is None else min(before, at)
    if following_queries.follows_in(person, scope).exists():
        following.mark_all_read(person, scope, shown_at=shown_at, now=at)


def _unread_recently_read(person: User, said: Said) -> Json:
    marking.unmark_recent(person, now=now())
    return _unread_ids(person, said)


_READS: Mapping[str, Callable[[User, Said], Json]] = {
    "groups": _groups,
    "feeds": _feeds,
    "favicons": _favicons,
    "items": _items,
    "links": _links,
    "unread_item_ids": _unread_ids,
    "saved_item_ids": _saved_ids,
}
_CHANGES: Mapping[str, Callable[[User, Said], Json]] = {
    "mark": _mark,
    "unread_recently_read": _unread_recently_read,
}
