"""A feed as an answer: whole, as what is new since the reader's last one, or not at all where nothing is."""

from datetime import datetime
from http import HTTPStatus

from csp.constants import NONE
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date

from apps.published_feeds import actions
from apps.published_feeds.algorithms.states import State, delta, state_of, states_in, takes_deltas
from apps.published_feeds.formats import FORMS
from apps.published_feeds.formats.feed import Feed
from apps.published_feeds.queries.channels import Channel

IM_USED = HTTPStatus.IM_USED
_POLICY = {"default-src": [NONE], "frame-ancestors": [NONE]}
KEPT = 300  # s; a reader that asks more often has its own answer


def answer(request: HttpRequest, channel: Channel, form: str, feed: Feed, *, now: datetime) -> HttpResponseBase:
    """A feed in a form, as this request wants it (RFC 9110, section 13; RFC 3229)."""
    state = state_of(feed)
    actions.note_request(channel, form, state, now=now)
    modified = int(feed.updated.timestamp())
    unchanged = get_conditional_response(request, etag=state.tag, last_modified=modified, response=None)
    if unchanged is not None:
        return _described(unchanged, channel, feed, state)
    lacking = _lacking(request, feed)
    written = FORMS[form].write(feed if lacking is None else lacking)
    kind = f"{FORMS[form].media_type}; charset=utf-8"
    said = _described(HttpResponse(written, content_type=kind), channel, feed, state)
    if lacking is not None:
        said.status_code = IM_USED
        said["IM"] = "feed"
        # Caches that know nothing of deltas may not keep what is only a part.
        said["Cache-Control"] = f"no-store, im, {said['Cache-Control']}"
    return said


def _lacking(request: HttpRequest, feed: Feed) -> Feed | None:
    """The feed with what is new to a reader that wishes for that alone, and whose last state is known."""
    if not takes_deltas(request.headers.get("A-IM", "")):
        return None
    known = next(states_in(request.headers.get("If-None-Match", "")), None)
    return None if known is None else delta(feed, known)


def _described(said: HttpResponseBase, channel: Channel, feed: Feed, state: State) -> HttpResponseBase:
    said["ETag"] = state.tag
    said["Last-Modified"] = http_date(feed.updated.timestamp())
    said["Cache-Control"] = f"{'private' if channel.is_secret else 'public'}, max-age={KEPT}"
    links = [("self", feed.address), *(("hub", hub) for hub in feed.hubs)]
    said["Link"] = ", ".join(f'<{address}>; rel="{name}"' for name, address in links)
    patch_vary_headers(said, ["A-IM"])
    said._csp_config = _POLICY  # type: ignore[attr-defined]  # shorter than that of pages, on every poll
    if channel.is_secret:
        said["X-Robots-Tag"] = "noindex"
        said["Referrer-Policy"] = "no-referrer"
    return said
