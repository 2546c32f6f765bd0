"""Rendering shared by all views."""

from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now as clock
from django_htmx.middleware import HtmxDetails

from apps.accounts.models import User
from apps.following.queries import Scope, readable_by
from apps.postings.queries import BadCursor, Cursor
from apps.sources import actions as sources
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.rows import choice_of
from apps.web.pages.sidebar import sidebar

LAST_PAGE = 100


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
    **context: object,
) -> HttpResponse:
    """Render a whole page, for signed-in users with the sidebar unless `alone`; or a `part` for htmx."""
    if part and request.htmx:  # type: ignore[attr-defined]
        return render(request, part, {"now": clock(), **context})
    beside = sidebar(request.user, at) if request.user.is_authenticated and not alone else None
    if beside is not None:
        context["sidebar"] = beside
    response = render(request, template, {"now": clock(), **context}, status=status)
    if choice_of(request.user) == User.Images.DIRECT or (beside is not None and beside.is_direct):
        response._csp_update = {"img-src": ["https:", "http:"], "media-src": ["https:", "http:"]}  # type: ignore[attr-defined]
    return response


def back(request: HttpRequest, otherwise: str, *of: object) -> HttpResponseRedirect:
    """Redirect to the page of this site named in the form's `next`, or else to the given one."""
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(wanted)
    return HttpResponseRedirect(resolve_url(otherwise, *of))


def is_prefetch(request: HttpRequest) -> bool:
    """Whether the browser fetches the page in advance; the user may never open it."""
    purpose = f"{request.headers.get('Sec-Purpose', '')} {request.headers.get('Purpose', '')}"
    return "prefetch" in purpose or "prerender" in purpose


def is_from_here(request: HttpRequest) -> bool:
    """Whether one of our pages led to the address; browsers without Sec-Fetch-Site are trusted."""
    return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"


def read_time(text: str) -> datetime | None:
    """An aware time as our forms contain it, or None."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None


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


def by(request: HttpRequest, place: str, why: str = "") -> sources.By:
    """Who decides something on a page, for the change log."""
    return sources.By(place, request.user.pk, why)
