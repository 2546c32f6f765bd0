"""Contents of streams: item ids, items as JSON, and as Atom."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from django.core.cache import cache
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import get_conditional_response
from django.utils.http import http_date, quote_etag
from django.utils.timezone import now

from apps.accounts.models import User
from apps.postings.queries import Cursor
from extensions.dialects.google_reader.formats.items import as_atom, item_as_json
from extensions.dialects.google_reader.formats.streams import READING_LIST
from extensions.dialects.google_reader.queries import streams
from extensions.dialects.google_reader.schemas import heading
from extensions.dialects.google_reader.views.endpoint import Call, endpoint, respond, text_response

USUAL = 20  # items per response
MAX_IDS = 10_000  # items of a response with ids alone
MAX_ITEMS = 1_000
AT_ONCE = 500  # items in memory: a response can have many megabytes
EMPTY_FOR_NEWSPLUS = [{"id": "0"}]  # it takes an empty list for a failure
MODIFIED_KEPT_SECONDS = 86_400


# --- ids and counts ---------------------------------------------------------------------------------------------------
@endpoint()
def ids(call: Call) -> HttpResponse:
    part = streams.Library(call.person).part(_stream_request(call, None, MAX_IDS))
    refs = [{"id": str(id)} for id in part.ids]
    if not refs and call.fields.one("client") == "newsplus":
        refs = EMPTY_FOR_NEWSPLUS
    return respond({"itemRefs": refs, **_continued(part)})


@endpoint()
def count(call: Call) -> HttpResponse:
    """The number of items of a stream; with `a=true` also the day of the newest."""
    library = streams.Library(call.person)
    stream = next(iter(call.streams("s")), READING_LIST)
    text = str(library.count(stream))
    newest_at = library.newest_at(stream) if call.fields.one("a") == "true" else None
    return text_response(f"{text}#{newest_at:%B %d, %Y}" if newest_at else text)


# --- JSON -------------------------------------------------------------------------------------------------------------
@endpoint()
def contents(call: Call, stream: str | None = None) -> HttpResponseBase:
    """A part of the stream in the path or `s`; by default of all follows."""
    wanted = _stream_request(call, stream, MAX_ITEMS)
    part = streams.Library(call.person).part(wanted)
    title, site_url = heading(call.person, wanted.streams[0])
    head = {
        "direction": "ltr",
        "id": str(wanted.streams[0]),
        "title": title,
        "self": [{"href": call.request.build_absolute_uri()}],
        "alternate": [{"href": site_url, "type": "text/html"}] if site_url else [],
        "updated": int(now().timestamp()),
    }
    return _with_items(head | _continued(part), call.person, part.ids)


@endpoint()
def items_contents(call: Call) -> HttpResponseBase:
    """The readable ones of the items `i`, in their order."""
    head = {"direction": "ltr", "id": str(READING_LIST), "title": "", "updated": int(now().timestamp())}
    return _with_items(head, call.person, call.item_ids())


def _with_items(head: Mapping[str, object], person: User, ids: Sequence[int]) -> HttpResponseBase:
    pieces = _written(head, person, ids, streams.labels_by_source(person, streams.labels_of(person)))
    if len(ids) <= AT_ONCE:
        return HttpResponse(b"".join(pieces), content_type="application/json")
    return StreamingHttpResponse(pieces, content_type="application/json")


def _written(
    head: Mapping[str, object], person: User, ids: Sequence[int], labels: Mapping[int, Sequence[str]]
) -> Iterator[bytes]:
    yield json.dumps(head, ensure_ascii=False).removesuffix("}").encode() + b',"items":['
    separator = b""
    for start in range(0, len(ids), AT_ONCE):
        for item in streams.items(person, ids[start : start + AT_ONCE], labels):
            yield separator + json.dumps(item_as_json(item), ensure_ascii=False, separators=(",", ":")).encode()
            separator = b","
    yield b"]}"


# --- Atom -------------------------------------------------------------------------------------------------------------
@endpoint(methods=("GET", "HEAD"))
def atom(call: Call, stream: str) -> HttpResponseBase:
    """A part of a stream; 304 if neither items nor their states have changed."""
    wanted = _stream_request(call, stream, MAX_ITEMS)
    part = streams.Library(call.person).part(wanted)
    title, site_url = heading(call.person, wanted.streams[0])
    found = streams.items(call.person, part.ids, streams.labels_by_source(call.person, streams.labels_of(call.person)))
    url = call.request.build_absolute_uri()
    document = as_atom(
        found, stream=wanted.streams[0], title=title, url=url, site_url=site_url, continuation=part.continuation
    )
    etag = quote_etag(sha256(document).hexdigest()[:32])
    since = _unchanged_since(f"greader:{call.person.pk}:{sha256(url.encode()).hexdigest()}", etag)
    response = HttpResponse(document, content_type="application/atom+xml; charset=utf-8")
    response["ETag"], response["Last-Modified"] = etag, http_date(since)
    return get_conditional_response(call.request, etag, since, response) or response


def _unchanged_since(name: str, etag: str) -> int:
    """When a document was first seen with this entity tag, in s since 1970; later than the version before.

    No query knows the time, because lists marked read leave none at their postings. curl, which newsboat uses, discards
    a version unless its second is later.
    """
    known_etag, since = cache.get(name) or ("", 0)
    if known_etag != etag:
        since = max(int(now().timestamp()), since + 1)
        cache.set(name, (etag, since), MODIFIED_KEPT_SECONDS)
    return int(since)


# --- parameters -------------------------------------------------------------------------------------------------------
def _stream_request(call: Call, stream: str | None, most: int) -> streams.StreamRequest:
    fields, place = call.fields, call.fields.one("c")
    return streams.StreamRequest(
        streams=(call.stream(stream),) if stream else call.streams("s") or (READING_LIST,),
        limit=fields.number("n", USUAL, most=most),
        excluded=call.streams("xt"),
        included=call.streams("it"),
        oldest_first=fields.one("r") == "o",
        start=Cursor.decode(place) if place else None,
        arrival=call.arrival(),
    )


def _continued(part: streams.Part) -> dict[str, str]:
    return {"continuation": part.continuation} if part.continuation else {}
