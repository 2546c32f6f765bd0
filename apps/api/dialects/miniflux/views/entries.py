"""Miniflux' API: entries, which are postings of what somebody follows, and those that they starred."""

import json
from collections.abc import Iterator, Mapping

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.timezone import localtime, now

from apps.accounts.models import User
from apps.api.actions import marking
from apps.api.dialects.miniflux import queries
from apps.api.dialects.miniflux.formats.parameters import EntryFilter, read_change, read_filter
from apps.api.dialects.miniflux.formats.responses import Json, enclosure_json, enclosure_place, entry_json, feed_json
from apps.api.dialects.miniflux.views.endpoint import NotThere, done, json_of, refused, resource
from apps.api.dialects.miniflux.views.feeds import category_of, category_scope, feed_of
from apps.api.formats.parameters import BadRequest, whole
from apps.api.formats.schemas import Entry
from apps.following import actions as following
from apps.following.queries import Scope


# --- lists ------------------------------------------------------------------------------------------------------------
def _entries(request: HttpRequest, person: User) -> HttpResponseBase:
    asked = _asked(request)
    return _list(person, asked, _scope(person, asked))


def _feed_entries(request: HttpRequest, person: User, feed_id: int) -> HttpResponseBase:
    feed_of(person, feed_id)
    return _list(person, _asked(request), Scope("source", feed_id))


def _category_entries(request: HttpRequest, person: User, category_id: int) -> HttpResponseBase:
    return _list(person, _asked(request), category_scope(person, category_id))


def _asked(request: HttpRequest) -> EntryFilter:
    return read_filter({name: request.GET.getlist(name) for name in request.GET})


def _scope(person: User, asked: EntryFilter) -> Scope:
    try:
        if asked.feed_id is not None:
            return Scope("source", feed_of(person, asked.feed_id).id)
        if asked.category_id is not None:
            return category_scope(person, asked.category_id)
    except NotThere as problem:
        raise BadRequest(str(problem)) from problem
    return Scope("all")


def _list(person: User, asked: EntryFilter, scope: Scope) -> HttpResponseBase:
    """Sent while it is made, since a thousand postings may be very long."""
    total, ids = queries.find(person, asked, scope, localtime())
    feeds = {id: feed_json(feed, person.pk) for id, feed in queries.feeds_of(person, ids).items()}
    return StreamingHttpResponse(_written(person, total, ids, feeds), content_type="application/json")


def _written(person: User, total: int, ids: list[int], feeds: Mapping[int, Json]) -> Iterator[str]:
    yield f'{{"total": {total}, "entries": ['
    between = ""
    for entry in queries.entries(person, ids):
        if entry.feed_id not in feeds:  # its source was merged with another one just now
            continue
        yield between + json.dumps(entry_json(entry, feeds[entry.feed_id], person.pk))
        between = ", "
    yield "]}"


# --- one entry --------------------------------------------------------------------------------------------------------
def _entry_of(person: User, entry_id: int) -> Entry:
    entry = queries.entry(person, entry_id)
    if entry is None:
        raise NotThere("There is no such entry.")
    return entry


def _answer(person: User, entry: Entry) -> HttpResponse:
    feed = queries.feeds_of(person, [entry.id])[entry.feed_id]
    return JsonResponse(entry_json(entry, feed_json(feed, person.pk), person.pk))


def _entry(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    return _answer(person, _entry_of(person, entry_id))


def _feed_entry(request: HttpRequest, person: User, feed_id: int, entry_id: int) -> HttpResponse:
    entry = _entry_of(person, entry_id)
    if entry.feed_id != feed_of(person, feed_id).id:
        raise NotThere("There is no such entry.")
    return _answer(person, entry)


def _category_entry(request: HttpRequest, person: User, category_id: int, entry_id: int) -> HttpResponse:
    category, entry = category_of(person, category_id), _entry_of(person, entry_id)
    if queries.feeds_of(person, [entry_id])[entry.feed_id].category != category:
        raise NotThere("There is no such entry.")
    return _answer(person, entry)


def _fetch_content(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    """The text as the portal has it: where a feed only teases it fetches pages by itself, at nobody's wish."""
    entry = _entry_of(person, entry_id)
    return JsonResponse({"content": entry.html, "reading_time": entry.minutes})


def _save(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    _entry_of(person, entry_id)
    raise BadRequest("No service to save entries with is set up here.")


# --- changes ----------------------------------------------------------------------------------------------------------
def _update_entries(request: HttpRequest, person: User) -> HttpResponse:
    ids, read = read_change(json_of(request))
    marking.mark(person, ids, read=read, now=now())
    return done()


def _toggle_star(request: HttpRequest, person: User, entry_id: int) -> HttpResponse:
    if not marking.toggle_star(person, entry_id, now=now()):
        raise NotThere("There is no such entry.")
    return done()


_as_published = refused("What a source published stays as it is.")

entries = resource(GET=_entries, PUT=_update_entries)
feed_entries = resource(GET=_feed_entries)
category_entries = resource(GET=_category_entries)
entry = resource(GET=_entry, PUT=_as_published)
feed_entry = resource(GET=_feed_entry)
category_entry = resource(GET=_category_entry)
fetch_content = resource(GET=_fetch_content)
save = resource(POST=_save)
star = resource(PUT=_toggle_star)
import_entry = resource(POST=_as_published)


# --- enclosures -------------------------------------------------------------------------------------------------------
def _enclosure_of(person: User, enclosure_id: int) -> tuple[Entry, int]:
    entry_id, place = enclosure_place(enclosure_id)
    entry = queries.entry(person, entry_id)
    if entry is None or place >= len(entry.enclosures):
        raise NotThere("There is no such enclosure.")
    return entry, place


def _enclosure(request: HttpRequest, person: User, enclosure_id: int) -> HttpResponse:
    entry, place = _enclosure_of(person, enclosure_id)
    return JsonResponse(enclosure_json(entry, place, person.pk))


def _update_enclosure(request: HttpRequest, person: User, enclosure_id: int) -> HttpResponse:
    entry, place = _enclosure_of(person, enclosure_id)
    seconds = whole("media_progression", json_of(request).get("media_progression"))
    following.save_position(person, entry.id, str(entry.enclosures[place].get("url", "")), float(seconds), now=now())
    return done()


enclosure = resource(GET=_enclosure, PUT=_update_enclosure)
