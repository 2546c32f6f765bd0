"""Rendering shared by all views."""

import pickle
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from secrets import token_bytes

from django.contrib.messages import get_messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.cache import get_conditional_response
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now as clock
from django.utils.translation import get_language
from django_htmx.middleware import HtmxDetails

from apps.accounts.models import User
from apps.database.sanitizing import sanitize
from apps.following.queries import Scope, readable_by, subscription_list
from apps.postings.queries import BadCursor, Cursor
from apps.sources.actions.curating import By
from apps.sources.formats import opml
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.rows import choice_of
from apps.web.pages.sidebar import Sidebar, sidebar

LAST_PAGE = 100
MAX_WORDS_LENGTH = 200  # characters
_KEY = token_bytes(16)  # per start of the web server, whose templates may have changed


class Request(HttpRequest):
    """A request after our middleware."""

    htmx: HtmxDetails


class PersonsRequest(Request):
    """A request of a signed-in user."""

    user: User


def show(
    request: HttpRequest,
    template: str,
    *,
    at: Scope | None = None,
    status: int = 200,
    alone: bool = False,
    part: str = "",
    shown: object = None,
    **context: object,
) -> HttpResponse:
    """Render a whole page, for signed-in users with the sidebar unless `alone`; or a `part` for htmx.

    Given all that is `shown` beside the sidebar, it is not rendered again for a browser that has it.
    """
    if part and request.htmx:  # type: ignore[attr-defined]
        return render(request, part, {"now": clock(), **context})
    beside = sidebar(request.user, at) if request.user.is_authenticated and not alone else None
    if beside is not None:
        context["sidebar"] = beside
    etag = _etag(request, shown, beside) if shown is not None and beside is not None else None
    unchanged = get_conditional_response(request, etag=etag) if etag else None
    response = unchanged or render(request, template, {"now": clock(), **context}, status=status)
    if etag:
        response["ETag"] = etag
    if choice_of(request.user) == User.Images.DIRECT or (beside is not None and beside.is_direct):
        response._csp_update = {"img-src": ["https:", "http:"], "media-src": ["https:", "http:"]}  # type: ignore[attr-defined]
    return response


def _etag(request: HttpRequest, shown: object, beside: Sidebar) -> str | None:
    """A weak entity tag (RFC 9110, section 8.8.3), since pages of equal content have different tokens; None for pages
    with messages, which are shown once.
    """
    if len(get_messages(request)):
        return None
    person = [getattr(request.user, field.attname) for field in User._meta.concrete_fields]
    seen = (request.get_full_path(), sorted(request.COOKIES.items()), get_language(), person, beside.shown, shown)
    return f'W/"{blake2b(pickle.dumps(seen), key=_KEY, digest_size=16).hexdigest()}"'


def back(request: HttpRequest, otherwise: str, *of: object) -> HttpResponseRedirect:
    """Redirect to the page of this site named in the form's `next`, or else to the given one."""
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(wanted)
    return HttpResponseRedirect(resolve_url(otherwise, *of))


def subscription_file(user: User) -> HttpResponse:
    """The user's follows as an OPML file."""
    document = opml.write(subscription_list(user), clock())
    named = {"Content-Disposition": 'attachment; filename="wirebeat.opml"'}
    return HttpResponse(document, content_type="text/x-opml; charset=utf-8", headers=named)


def is_prefetch(request: HttpRequest) -> bool:
    """Whether the browser fetches the page in advance; the user may never open it."""
    purpose = f"{request.headers.get('Sec-Purpose', '')} {request.headers.get('Purpose', '')}"
    return "prefetch" in purpose or "prerender" in purpose


def is_from_here(request: HttpRequest) -> bool:
    """Whether one of our pages led to the address; browsers without Sec-Fetch-Site are trusted."""
    return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"


def read_time(text: str) -> datetime | None:
    """An aware time as our forms contain it, or None."""
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo else None  # Postgres rejects offsets of 16 hours and more
    return None


def filter_words(request: HttpRequest, name: str = "words") -> str:
    """The text by which an address filters a list, as Postgres can store it."""
    return sanitize(request.GET.get(name, "")).strip()[:MAX_WORDS_LENGTH]


def place_in_list(request: HttpRequest) -> Cursor | None:
    """The end of the previous page in an address; raises Http404 if it is invalid."""
    start = request.GET.get("start")
    try:
        return Cursor.decode(start) if start else None
    except BadCursor as error:
        raise Http404(str(error)) from error


def page_number(request: HttpRequest) -> int:
    """The number of the page in an address, from 1; invalid ones are ignored."""
    return min(max(whole_number(request.GET.get("page", ""), 9_999) or 1, 1), LAST_PAGE)


def require_readable(user: User, posting_id: int) -> None:
    if not readable_by(user).filter(pk=posting_id).exists():
        raise Http404("There is no such posting.")


def by(request: HttpRequest, place: str, why: str = "") -> By:
    """Who decides something on a page, for the change log."""
    return By(place, request.user.pk, why)
