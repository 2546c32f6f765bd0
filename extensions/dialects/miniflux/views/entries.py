"""Miniflux' API: entries, which are postings of followed sources, and starred ones."""

import json
from collections.abc import Iterator, Mapping

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.timezone import localtime, now

from apps.accounts.models import User
from apps.accounts.views.requests import present
from apps.api.actions import marking
from apps.api.formats.parameters import BadRequest
from apps.following import actions as following
from apps.following.queries import Scope
from extensions.dialects.miniflux import actions, queries
from extensions.dialects.miniflux.formats.parameters import EntryChanges, EntryFilter, Progress, read_filter
from extensions.dialects.miniflux.formats.responses import (
    Entry,
    Json,
    enclosure_json,
    enclosure_place,
    entry_json,
    feed_json,
)
from extensions.dialects.miniflux.views.endpoint import done, json_of
from extensions.dialects.miniflux.views.feeds import category_of, category_scope, feed_of


# --- lists ------------------------------------------------------------------------------------------------------------
def entries(request: HttpRequest, person: User) -> HttpResponseBase:
    criteria = _criteria(request)
    return _list(person, criteria, _scope(person, criteria))


def feed_entries(request: HttpRequest, person: User, feed_id: int) -> HttpResponseBase:
    return _list(person, _criteria(request), Scope("source", feed_of(person, feed_id).id))


def category_entries(request: HttpRequest, person: User, category_id: int) -> HttpResponseBase:
    return _list(person, _criteria(request), category_scope(person, category_id))


def _criteria(request: HttpRequest) -> EntryFilter:
    return read_filter({name: request.GET.getlist(name) for name in request.GET})


def _scope(person: User, criteria: EntryFilter) -> Scope:
    try:
        if criteria.feed_id is not None:
            return Scope("source", feed_of(person, criteria.feed_id).id)
        if criteria.category_id is not None:
            return category_scope(person, criteria.category_id)
    except Http404 as problem:
        raise BadRequest(str(problem)) from problem
    return Scope("all")


def _list(person: User, criteria: EntryFilter, scope: Scope) -> HttpResponseBase:
    """Streamed, because a thousand postings can be very long."""
    total, ids = queries.find(person, criteria, scope, localtime())
    feeds = {id: feed_json(feed, person.pk) for id, feed in queries.feeds_of(person, ids).items()}
    return StreamingHttpResponse(_written(person, total, ids, feeds), content_type="application/json")


def _written(person: User, total: int, ids: list[int], feeds: Mapping[int, Json]) -> Iterator[str]:
    yield f'{{"total": {total}, "entries": ['
    between = ""
    for entry in queries.entries(person, ids):
        if entry.feed_id not in feeds:  # its source has been merged meanwhile
            continue
        yield between + json.dumps(entry_json(entry, feeds[entry.feed_id], person.pk))
        between = ", "
    yield "]}"


# --- one entry --------------------------------------------------------------------------------------------------------
def _entry_of(person: User, entry_id: int) -> Entry:
    return present(queries.entry(person, entry_id), "There is no such entry.")


def entry(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    found = _entry_of(person, entry_id)
    feed = queries.feeds_of(person, [entry_id])[found.feed_id]
    return JsonResponse(entry_json(found, feed_json(feed, person.pk), person.pk))


def feed_entry(request: HttpRequest, person: User, feed_id: int, entry_id: int) -> HttpResponse:
    if _entry_of(person, entry_id).feed_id != feed_of(person, feed_id).id:
        raise Http404("There is no such entry.")
    return entry(request, person, entry_id)


def category_entry(request: HttpRequest, person: User, category_id: int, entry_id: int) -> HttpResponse:
    category, found = category_of(person, category_id), _entry_of(person, entry_id)
    if queries.feeds_of(person, [entry_id])[found.feed_id].category != category:
        raise Http404("There is no such entry.")
    return entry(request, person, entry_id)


def fetch_content(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    """The stored text: the portal fetches pages of feeds with excerpts by itself."""
    found = _entry_of(person, entry_id)
    return JsonResponse({"content": found.html, "reading_time": found.minutes})


# --- changes ----------------------------------------------------------------------------------------------------------
def update_entries(request: HttpRequest, person: User) -> HttpResponse:
    changes = json_of(request, EntryChanges)
    marking.mark(person, changes.entry_ids, read=changes.status == "read", now=now())
    return done()


def toggle_star(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    if not actions.toggle_star(person, entry_id, now=now()):
        raise Http404("There is no such entry.")
    return done()


# --- enclosures -------------------------------------------------------------------------------------------------------
def _enclosure_of(person: User, enclosure_id: int) -> tuple[Entry, int]:
    entry_id, place = enclosure_place(enclosure_id)
    found = queries.entry(person, entry_id)
    if found is None or place >= len(found.enclosures):
        raise Http404("There is no such enclosure.")
    return found, place


def enclosure(request: HttpRequest, person: User, enclosure_id: int) -> HttpResponse:
    found, place = _enclosure_of(person, enclosure_id)
    return JsonResponse(enclosure_json(found, place, person.pk))


def update_enclosure(request: HttpRequest, person: User, enclosure_id: int) -> HttpResponse:
    found, place = _enclosure_of(person, enclosure_id)
    seconds = float(json_of(request, Progress).media_progression)
    following.marks.save_position(person, found.id, str(found.enclosures[place].get("url", "")), seconds, now=now())
    return done()
