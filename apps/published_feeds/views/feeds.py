"""Feeds for other readers, which cannot sign in: a secret address grants access."""

from datetime import datetime
from hashlib import sha256
from http import HTTPStatus

from csp.constants import NONE
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from apps.accounts.middleware import impersonal
from apps.database.sanitizing import sanitize
from apps.following.queries import subscription_list
from apps.published_feeds import actions
from apps.published_feeds.algorithms.states import delta, tag_of, takes_deltas
from apps.published_feeds.formats import FORMS
from apps.published_feeds.formats.feed import Feed
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.addresses import address_by_secret
from apps.published_feeds.queries.channels import Channel, Kind, TrendList
from apps.published_feeds.queries.feeds import feed_of
from apps.search.queries import TooCostly
from apps.sources.formats import opml
from apps.trending import queries as trending


@impersonal
@require_safe
def named(request: HttpRequest, *, kind: Kind, form: str = "rss", **key: object) -> HttpResponseBase:
    """The feed of a list with its secret, slug or number in the path."""
    [name] = key.values()
    return _show(request, Channel(kind, str(name)), form)


@impersonal
@require_safe
def trends(request: HttpRequest, form: str = "rss") -> HttpResponseBase:
    """A list of trends; by default in the language with the most articles."""
    given = {name: sanitize(request.GET.get(name, "")) for name in ("language", "category", "method", "horizon")}
    language = given["language"][:3]
    if not language and (places := trending.ranks()):
        language = places[0].language
    method = "yioop" if given["method"] == "yioop" else "ours"
    chosen = TrendList(language, given["category"][:100], method, given["horizon"] or "day")
    return _show(request, chosen.channel, form)


def _show(request: HttpRequest, channel: Channel, form: str) -> HttpResponseBase:
    at = now()
    try:
        feed = feed_of(channel, form, now=at) if form in FORMS else None
    except TooCostly as error:
        return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8")
    if feed is None:
        raise Http404("There is no such feed.")
    return feed_response(request, channel, form, feed, now=at)


@impersonal
@require_safe
def sources(request: HttpRequest, feed_secret: str) -> HttpResponseBase:
    """The feeds that a person follows, as OPML for programs that subscribe to the list."""
    private = address_by_secret(feed_secret)
    if private is None or private.kind != PrivateAddress.Kind.SOURCES:
        raise Http404("There is no such list.")
    written = opml.write(subscription_list(private.user), private.made_at)
    response = HttpResponse(written, content_type="text/x-opml; charset=utf-8")
    response["ETag"] = tag = f'"{sha256(written).hexdigest()[:32]}"'
    response["Cache-Control"] = "private, no-cache"
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "no-referrer"
    return get_conditional_response(request, etag=tag, response=response) or response


# --- responses: the whole feed, the new entries alone (226), or none (304) --------------------------------------------
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
