"""What the person follows."""

from itertools import zip_longest

from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now

from apps.api.dialects.google_reader import actions, schemas
from apps.api.dialects.google_reader.actions import SubscriptionChange
from apps.api.dialects.google_reader.formats.forms import BadField
from apps.api.dialects.google_reader.formats.streams import Stream
from apps.api.dialects.google_reader.views.endpoint import MAX_STREAMS, Call, changing, done, endpoint, respond
from apps.following import queries as following
from apps.retrieval.actions.following import import_list
from apps.sources.formats import opml


@endpoint()
def listed(call: Call) -> HttpResponse:
    return respond(schemas.subscriptions(call.person))


@changing
def edit(call: Call) -> HttpResponse:
    """`ac` is subscribe, edit or unsubscribe; `s` feeds, `t` their titles in the same order, `a` and `r` labels."""
    wishes, added, removed = _wishes(call), call.streams("a"), call.streams("r")
    match call.fields.one("ac"):
        case "subscribe":
            actions.subscribe(call.person, wishes, added=added, now=now())
        case "edit":
            actions.edit_subscriptions(call.person, wishes, added=added, removed=removed)
        case "unsubscribe":
            actions.unsubscribe(call.person, [wish.feed for wish in wishes], now=now())
        case other:
            raise BadField(f"ac={other[:40]} is none of subscribe, edit and unsubscribe.")
    return done()


def _wishes(call: Call) -> list[SubscriptionChange]:
    feeds, titles = call.fields.all("s"), call.fields.all("t")
    if not feeds or len(feeds) > MAX_STREAMS:
        raise BadField(f"Name from 1 to {MAX_STREAMS:,} feeds as s.")
    pairs = zip_longest(feeds, titles[: len(feeds)], fillvalue="")
    return [SubscriptionChange(call.stream(feed), " ".join(title.split())) for feed, title in pairs]


@changing
def quick_add(call: Call) -> HttpResponse:
    address = call.fields.one("quickadd")
    if not address:
        raise BadField("Name an address as quickadd.")
    found = actions.quick_add(call.person, address, now=now())
    if found.source_id is None:
        return respond({"numResults": 0, "query": address, "error": found.problem})
    follow = following.follow_of(call.person, found.source_id)
    feed = Stream("feed", str(found.source_id))
    name = (follow.title or str(follow.source)) if follow else ""
    return respond({"numResults": 1, "query": address, "streamId": str(feed), "streamName": name})


@endpoint()
def export(call: Call) -> HttpResponse:
    document = opml.write(following.subscription_list(call.person), now())
    return HttpResponse(
        document,
        content_type="text/x-opml; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="wirebeat.opml"'},
    )


@changing
def bring(call: Call) -> HttpResponse:
    """An OPML document as the body, or as the file of a form."""
    import_list(call.person, opml.read(_document(call.request)), now=now())
    return done()


def _document(request: HttpRequest) -> bytes:
    if request.content_type != "multipart/form-data":
        return request.body
    files = [file for name in request.FILES for file in request.FILES.getlist(name)]
    if not files:
        raise BadField("The form holds no file.")
    return bytes(files[0].read())
