"""States and labels: of items, of whole streams, and labels themselves."""

from django.http import HttpResponse
from django.utils.timezone import now

from apps.api.dialects.google_reader import actions, schemas
from apps.api.dialects.google_reader.formats.forms import BadField, read_moment
from apps.api.dialects.google_reader.formats.streams import Stream
from apps.api.dialects.google_reader.views.endpoint import Call, changing, done, endpoint, respond


@endpoint()
def listed(call: Call) -> HttpResponse:
    return respond(schemas.tags(call.person))


@endpoint()
def unread_count(call: Call) -> HttpResponse:
    return respond(schemas.unread_counts(call.person))


@changing
def edit(call: Call) -> HttpResponse:
    """`a` is put on each of the items `i`, `r` taken off."""
    ids, added, removed = call.item_ids(), call.streams("a"), call.streams("r")
    if not added and not removed:
        raise BadField("Say as a or r what to put on the items, or to take off.")
    actions.edit_tags(call.person, ids, added, removed, now=now())
    return done()


@changing
def mark_all_as_read(call: Call) -> HttpResponse:
    """Each stream `s`, as far as it had reached us at the time `ts`."""
    moment = now()
    told_time = call.fields.one("ts")
    until = read_moment(told_time, last=True) if told_time.strip("0") else moment
    streams = call.streams("s")
    if not streams:
        raise BadField("Name a stream as s.")
    actions.mark_all_as_read(call.person, streams, until=until, now=moment)
    return done()


@changing
def rename(call: Call) -> HttpResponse:
    actions.rename_label(call.person, _label(call, "s", "t"), _label(call, "dest"))
    return done()


@changing
def disable(call: Call) -> HttpResponse:
    actions.delete_labels(call.person, call.streams("s") or (_label(call, "s", "t"),))
    return done()


def _label(call: Call, *names: str) -> Stream:
    """The first that is given: a stream, or as `t` the words of a label alone."""
    for name in names:
        if text := call.fields.one(name):
            return Stream("label", text) if name == "t" else call.stream(text)
    raise BadField(f"Name a label as {names[0]}.")
