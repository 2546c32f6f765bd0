"""HTTP responses with a feed: whole, as the new entries alone (226), or unchanged (304)."""

from datetime import datetime
from http import HTTPStatus

from csp.constants import NONE
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date

from apps.published_feeds import actions
from apps.published_feeds.algorithms.states import delta, tag_of, takes_deltas
from apps.published_feeds.formats import FORMS
from apps.published_feeds.formats.feed import Feed
from apps.published_feeds.queries.channels import Channel

_POLICY = {"default-src": [NONE], "frame-ancestors": [NONE]}
MAX_AGE_SECONDS = 300


def feed_response(request: HttpRequest, channel: Channel, form: str, feed: Feed, *, now: datetime) -> HttpResponseBase:
    """The feed in a format, subject to the request's conditions (RFC 9110, section 13; RFC 3229)."""
    tag = tag_of(feed)
    if feed.entries or channel.kind != "trends":  # anyone can make up lists of trends
        actions.note_request(channel, form, tag, now=now)
    modified = int(feed.updated.timestamp())
    unchanged = get_conditional_response(request, etag=tag, last_modified=modified, response=None)
    if unchanged is not None:
        return _described(unchanged, channel, feed, tag)
    accepted = takes_deltas(request.headers.get("A-IM", ""))
    lacking = delta(feed, request.headers.get("If-None-Match", "")) if accepted else None
    written = FORMS[form].write(feed if lacking is None else lacking)
    kind = f"{FORMS[form].media_type}; charset=utf-8"
    response = _described(HttpResponse(written, content_type=kind), channel, feed, tag)
    if lacking is not None:
        response.status_code = HTTPStatus.IM_USED
        response["IM"] = "feed"
        # Caches without support of deltas must not store a part as the whole.
        response["Cache-Control"] = f"no-store, im, {response['Cache-Control']}"
    return response


def _described(response: HttpResponseBase, channel: Channel, feed: Feed, tag: str) -> HttpResponseBase:
    response["ETag"] = tag
    response["Last-Modified"] = http_date(feed.updated.timestamp())
    response["Cache-Control"] = f"{'private' if channel.is_secret else 'public'}, max-age={MAX_AGE_SECONDS}"
    links = [("self", feed.address), *(("hub", hub) for hub in feed.hubs)]
    response["Link"] = ", ".join(f'<{address}>; rel="{name}"' for name, address in links)
    patch_vary_headers(response, ["A-IM"])
    response._csp_config = _POLICY  # type: ignore[attr-defined]  # shorter than that of pages, on every poll
    if channel.is_secret:
        response["X-Robots-Tag"] = "noindex"
        response["Referrer-Policy"] = "no-referrer"
    return response
