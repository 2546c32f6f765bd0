"""Subscriptions."""

from itertools import zip_longest

from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now

from apps.api.formats.parameters import BadRequest
from apps.following import queries as following
from apps.retrieval.actions.following import import_list
from apps.sources.formats import opml
from apps.web.views.rendering import subscription_file
from extensions.dialects.google_reader import actions
from extensions.dialects.google_reader.formats.forms import read_moment
from extensions.dialects.google_reader.formats.streams import Stream
from extensions.dialects.google_reader.views.endpoint import MAX_STREAMS, Call, changing, done, endpoint, respond


@changing
def edit(call: Call) -> HttpResponse:
    """`ac` is the action; `s` contains feeds, `t` their titles in the same order, `a` and `r` labels."""
    titles, added, removed = _titles(call), call.streams("a"), call.streams("r")
    match call.fields.one("ac"):
        case "subscribe":
            actions.subscribe(call.person, titles, added=added, now=now())
        case "edit":
            actions.edit_subscriptions(call.person, titles, added=added, removed=removed)
        case "unsubscribe":
            actions.unsubscribe(call.person, list(titles), now=now())
        case other:
            raise BadRequest(f"ac={other[:40]} is none of subscribe, edit and unsubscribe.")
    return done()


def _titles(call: Call) -> dict[Stream, str]:
    """The feeds with their new titles; empty: unchanged."""
    feeds, titles = call.fields.all("s"), call.fields.all("t")
    if not feeds or len(feeds) > MAX_STREAMS:
        raise BadRequest(f"Name from 1 to {MAX_STREAMS:,} feeds as s.")
    pairs = zip_longest(feeds, titles[: len(feeds)], fillvalue="")
    return {call.stream(feed): " ".join(title.split()) for feed, title in pairs}


@changing
def quick_add(call: Call) -> HttpResponse:
    address = call.fields.one("quickadd")
    if not address:
        raise BadRequest("Name an address as quickadd.")
    found = actions.quick_add(call.person, address, now=now())
    if found.source_id is None:
        return respond({"numResults": 0, "query": address, "error": found.problem})
    follow = following.follow_of(call.person, found.source_id)
    feed = Stream("feed", str(found.source_id))
    name = (follow.title or str(follow.source)) if follow else ""
    return respond({"numResults": 1, "query": address, "streamId": str(feed), "streamName": name})


@endpoint()
def export(call: Call) -> HttpResponse:
    return subscription_file(call.person)


@changing
def import_feeds(call: Call) -> HttpResponse:
    """Imports OPML from the body or an uploaded file."""
    import_list(call.person, opml.read(_document(call.request)), now=now())
    return done()


def _document(request: HttpRequest) -> bytes:
    if request.content_type != "multipart/form-data":
        return request.body
    files = [file for name in request.FILES for file in request.FILES.getlist(name)]
    if not files:
        raise BadRequest("The form holds no file.")
    return bytes(files[0].read())


# --- states and labels of items and streams ---------------------------------------------------------------------------
@changing
def edit_tags(call: Call) -> HttpResponse:
    """Adds `a` to the items `i`, and removes `r`."""
    ids, added, removed = call.item_ids(), call.streams("a"), call.streams("r")
    if not added and not removed:
        raise BadRequest("Say as a or r what to put on the items, or to take off.")
    actions.edit_tags(call.person, ids, added, removed, now=now())
    return done()


@changing
def mark_all_as_read(call: Call) -> HttpResponse:
    """Each stream `s`, as far as it had been retrieved at the time `ts`."""
    moment = now()
    text = call.fields.one("ts")
    until = read_moment(text, last=True) if text.strip("0") else moment
    streams = call.streams("s")
    if not streams:
        raise BadRequest("Name a stream as s.")
    actions.mark_all_as_read(call.person, streams, until=until, now=moment)
    return done()


@changing
def rename_tag(call: Call) -> HttpResponse:
    actions.rename_label(call.person, _label(call, "s", "t"), _label(call, "dest"))
    return done()


@changing
def disable_tag(call: Call) -> HttpResponse:
    actions.delete_labels(call.person, call.streams("s") or (_label(call, "s", "t"),))
    return done()


def _label(call: Call, *names: str) -> Stream:
    """The first given parameter: a stream, or in `t` a label's text."""
    for name in names:
        if text := call.fields.one(name):
            return Stream("label", text) if name == "t" else call.stream(text)
    raise BadRequest(f"Name a label as {names[0]}.")
