"""States and labels of items and streams."""

from django.http import HttpResponse
from django.utils.timezone import now

from apps.api.dialects.google_reader import actions
from apps.api.dialects.google_reader.formats.forms import read_moment
from apps.api.dialects.google_reader.formats.streams import Stream
from apps.api.dialects.google_reader.views.endpoint import Call, changing, done
from apps.api.formats.parameters import BadRequest


@changing
def edit(call: Call) -> HttpResponse:
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
def rename(call: Call) -> HttpResponse:
    actions.rename_label(call.person, _label(call, "s", "t"), _label(call, "dest"))
    return done()


@changing
def disable(call: Call) -> HttpResponse:
    actions.delete_labels(call.person, call.streams("s") or (_label(call, "s", "t"),))
    return done()


def _label(call: Call, *names: str) -> Stream:
    """The first given parameter: a stream, or in `t` a label's text."""
    for name in names:
        if text := call.fields.one(name):
            return Stream("label", text) if name == "t" else call.stream(text)
    raise BadRequest(f"Name a label as {names[0]}.")
