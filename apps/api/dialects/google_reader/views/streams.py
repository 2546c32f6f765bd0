"""What streams hold: numbers of items, items as JSON, and as Atom."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from django.core.cache import cache
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, quote_etag
from django.utils.timezone import now

from apps.accounts.models import User
from apps.api.dialects.google_reader.formats.items import Contents, as_atom, item_as_json
from apps.api.dialects.google_reader.formats.streams import READING_LIST, Stream
from apps.api.dialects.google_reader.queries.items import items
from apps.api.dialects.google_reader.queries.labels import labels_by_source, labels_of
from apps.api.dialects.google_reader.queries.streams import Library, Part, StreamRequest
from apps.api.dialects.google_reader.schemas import heading
from apps.api.dialects.google_reader.views.endpoint import Call, endpoint, respond, said
from apps.postings.queries import Cursor

USUAL = 20  # items of an answer
MAX_NUMBERS = 10_000  # items of an answer that tells only their numbers
MAX_ITEMS = 1_000
AT_ONCE = 500  # items that are read and written at a time: an answer may be many megabytes
EMPTY_FOR_NEWSPLUS = [{"id": "0"}]  # it takes an empty list for a failure
REMEMBERED = 86_400  # s: how long it is known since when a document is as it is


# --- numbers ----------------------------------------------------------------------------------------------------------
@endpoint()
def ids(call: Call) -> HttpResponse:
    part = Library(call.person).part(_asked(call, call.streams("s"), MAX_NUMBERS))
    refs = [{"id": str(id)} for id in part.ids]
    if not refs and call.fields.one("client") == "newsplus":
        refs = EMPTY_FOR_NEWSPLUS
    return respond({"itemRefs": refs, **_continued(part)})


@endpoint()
def count(call: Call) -> HttpResponse:
    """How many items a stream holds; with `a=true` the day of the newest besides."""
    library = Library(call.person)
    stream = next(iter(call.streams("s")), READING_LIST)
    text = str(library.count(stream))
    newest_at = library.newest_at(stream) if call.fields.one("a") == "true" else None
    return said(f"{text}#{newest_at:%B %d, %Y}" if newest_at else text)


# --- JSON -------------------------------------------------------------------------------------------------------------
@endpoint()
def contents(call: Call, stream: str | None = None) -> HttpResponseBase:
    """A part of the stream that the address or `s` names: all that the person follows by default."""
    asked = _asked(call, _streams(call, stream), MAX_ITEMS)
    part = Library(call.person).part(asked)
    title, site_url = heading(call.person, asked.streams[0])
    head = {
        "direction": "ltr",
        "id": str(asked.streams[0]),
        "title": title,
        "self": [{"href": call.request.build_absolute_uri()}],
        "alternate": [{"href": site_url, "type": "text/html"}] if site_url else [],
        "updated": int(now().timestamp()),
    }
    return _with_items(head | _continued(part), call.person, part.ids)


@endpoint()
def items_contents(call: Call) -> HttpResponseBase:
    """The items `i`, in their order, without those that are gone or not the person's to read."""
    head = {"direction": "ltr", "id": str(READING_LIST), "title": "", "updated": int(now().timestamp())}
    return _with_items(head, call.person, call.item_ids())


def _with_items(head: Mapping[str, object], person: User, ids: Sequence[int]) -> HttpResponseBase:
    pieces = _written(head, person, ids, labels_by_source(person, labels_of(person)))
    if len(ids) <= AT_ONCE:
        return HttpResponse(b"".join(pieces), content_type="application/json")
    return StreamingHttpResponse(pieces, content_type="application/json")


def _written(
    head: Mapping[str, object], person: User, ids: Sequence[int], labels: Mapping[int, Sequence[str]]
) -> Iterator[bytes]:
    yield json.dumps(head, ensure_ascii=False).removesuffix("}").encode() + b',"items":['
    separator = b""
    for start in range(0, len(ids), AT_ONCE):
        for item in items(person, ids[start : start + AT_ONCE], labels):
            yield separator + json.dumps(item_as_json(item), ensure_ascii=False, separators=(",", ":")).encode()
            separator = b","
    yield b"]}"


# --- Atom -------------------------------------------------------------------------------------------------------------
@endpoint(methods=("GET", "HEAD"))
def atom(call: Call, stream: str) -> HttpResponseBase:
    """A part of a stream; 304 for a client that has it as it is, what was read and starred included."""
    asked = _asked(call, _streams(call, stream), MAX_ITEMS)
    part = Library(call.person).part(asked)
    title, site_url = heading(call.person, asked.streams[0])
    found = items(call.person, part.ids, labels_by_source(call.person, labels_of(call.person)))
    url = call.request.build_absolute_uri()
    document = as_atom(Contents(asked.streams[0], title, url, site_url, found, part.continuation))
    etag = quote_etag(sha256(document).hexdigest()[:32])
    since = _unchanged_since(f"greader:{call.person.pk}:{sha256(url.encode()).hexdigest()}", etag)
    response = HttpResponse(document, content_type="application/atom+xml; charset=utf-8")
    response["ETag"], response["Last-Modified"] = etag, http_date(since)
    return get_conditional_response(call.request, etag, since, response) or response


def _unchanged_since(name: str, etag: str) -> int:
    """When a document was first seen to be as it is, in s since 1970; never in the same second as the one before.

    That a whole list was marked read leaves no time at each of its postings, so no query could tell. And curl, which
    newsboat is made with, throws away what is not of a later second than what it had.
    """
    known_etag, since = cache.get(name) or ("", 0)
    if known_etag != etag:
        since = max(int(now().timestamp()), since + 1)
        cache.set(name, (etag, since), REMEMBERED)
    return int(since)


# --- what is asked ----------------------------------------------------------------------------------------------------
def _streams(call: Call, stream: str | None) -> tuple[Stream, ...]:
    return (call.stream(stream),) if stream else call.streams("s")


def _asked(call: Call, streams: tuple[Stream, ...], most: int) -> StreamRequest:
    fields, place = call.fields, call.fields.one("c")
    return StreamRequest(
        streams=streams or (READING_LIST,),
        limit=fields.number("n", USUAL, most=most),
        excluded=call.streams("xt"),
        included=call.streams("it"),
        oldest_first=fields.one("r") == "o",
        start=Cursor.decode(place) if place else None,
        arrival=call.arrival(),
    )


def _continued(part: Part) -> dict[str, str]:
    return {"continuation": part.continuation} if part.continuation else {}
