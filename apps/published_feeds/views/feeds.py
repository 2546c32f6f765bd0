"""Feeds for other readers, which cannot sign in: a secret address grants access."""

from hashlib import sha256
from http import HTTPStatus

from csp.constants import NONE
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import http_date
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from apps.accounts.middleware import impersonal
from apps.accounts.views.requests import PersonsRequest, person_get, person_post
from apps.following.queries import subscription_list
from apps.published_feeds import actions, pages
from apps.published_feeds.algorithms.states import delta, tag_of, takes_deltas
from apps.published_feeds.formats import FORMS
from apps.published_feeds.formats.feed import Feed
from apps.published_feeds.models import PrivateAddress
from apps.published_feeds.queries.addresses import address_by_secret
from apps.published_feeds.queries.channels import Channel, Kind
from apps.published_feeds.queries.feeds import feed_of
from apps.search.queries import TooCostly
from apps.sources.formats import opml


@impersonal
@require_safe
def named(request: HttpRequest, *, kind: Kind, form: str = "rss", **key: object) -> HttpResponseBase:
    """The feed of a list with its secret or slug in the path."""
    [name] = key.values()
    channel = Channel(kind, str(name))
    try:
        feed = feed_of(channel, form, now=now()) if form in FORMS else None
    except TooCostly as error:
        return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8")
    if feed is None:
        raise Http404("There is no such feed.")
    return feed_response(request, channel, form, feed)


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


def feed_response(request: HttpRequest, channel: Channel, form: str, feed: Feed) -> HttpResponseBase:
    """The feed in a format, subject to the request's conditions (RFC 9110, section 13; RFC 3229)."""
    tag = tag_of(feed)
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
    response["Link"] = f'<{feed.address}>; rel="self"'
    patch_vary_headers(response, ["A-IM"])
    response._csp_config = _POLICY  # type: ignore[attr-defined]  # shorter than that of pages, on every poll
    if channel.is_secret:
        response["X-Robots-Tag"] = "noindex"
        response["Referrer-Policy"] = "no-referrer"
    return response


# --- addresses of feeds -----------------------------------------------------------------------------------------------
@never_cache
@person_get
def index(request: PersonsRequest) -> HttpResponse:
    return render(request, "published_feeds/addresses.html", {"page": pages.addresses_page(request.user)})


@person_post
def make(request: PersonsRequest) -> HttpResponse:
    """Create an address for the list named in the form."""
    kind, _dash, number = request.POST.get("list", "").partition("-")
    try:
        list_id = int(number) if number.isascii() and number.isdecimal() and len(number) <= 18 else 0
        made = actions.make_address(request.user, kind, list_id, now=now())
    except actions.NoSuchList as error:
        raise Http404("You have no such list.") from error
    return redirect(f"{reverse('private_addresses')}#address-{made.pk}")


@person_post
def change(request: PersonsRequest, address_id: int) -> HttpResponse:
    """Replace or delete a list's address."""
    if request.POST.get("do") == "end":
        done = actions.end_address(request.user, address_id)
        message = _("The private URLs no longer work.")
    else:
        done = actions.renew_address(request.user, address_id, now=now())
        message = _("New private URLs created; the old ones no longer work.")
    if not done:
        raise Http404("You have no such address.")
    messages.success(request, message)
    return redirect("private_addresses")


# --- a page shared from another site ----------------------------------------------------------------------------------
@person_get
def save(request: PersonsRequest) -> HttpResponse:
    """Offer actions for a page that a browser or the system shares; only a posted form changes anything."""
    shared = {name: request.GET.get(name, "") for name in ("url", "text", "title")}
    return render(request, "published_feeds/save.html", {"page": pages.save_page(request.user, **shared)})


@person_get
def buttons(request: PersonsRequest) -> HttpResponse:
    """Bookmarklets; the content security policy of our own pages blocks them here."""
    return render(request, "published_feeds/buttons.html", {"buttons": pages.buttons_page()})
