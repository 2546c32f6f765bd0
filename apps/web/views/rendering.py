"""From a request to an answer: what all views share."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now as clock
from django_htmx.middleware import HtmxDetails

from apps.accounts.models import User
from apps.following.queries import Scope
from apps.sources import actions as sources
from apps.web.pages.pictures import choice_of
from apps.web.pages.sidebar import sidebar


class Request(HttpRequest):
    """What our middleware makes of a request."""

    htmx: HtmxDetails


class PersonsRequest(Request):
    """A request of somebody who is signed in."""

    user: User


def show(
    request: HttpRequest,
    template: str,
    *,
    at: Scope | None = None,
    status: int = 200,
    alone: bool = False,
    **context: object,
) -> HttpResponse:
    """A whole page, with the sidebar beside it for people who are signed in, unless it is to stand alone."""
    beside = sidebar(request.user, at) if request.user.is_authenticated and not alone else None
    if beside is not None:
        context["sidebar"] = beside
    answer = render(request, template, {"now": clock(), **context}, status=status)
    if choice_of(request.user) == User.Images.DIRECT or (beside is not None and beside.is_direct):
        answer._csp_update = {"img-src": ["https:", "http:"], "media-src": ["https:", "http:"]}  # type: ignore[attr-defined]
    return answer


def back(request: HttpRequest, otherwise: str, *of: object) -> HttpResponseRedirect:
    """To the page of this site that a form names in `next`, or else to the given one."""
    wanted = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure()):
        return HttpResponseRedirect(wanted)
    return HttpResponseRedirect(resolve_url(otherwise, *of))


def is_prefetch(request: HttpRequest) -> bool:
    """Browsers ask ahead for pages that nobody may ever look at."""
    purpose = f"{request.headers.get('Sec-Purpose', '')} {request.headers.get('Purpose', '')}"
    return "prefetch" in purpose or "prerender" in purpose


def is_from_here(request: HttpRequest) -> bool:
    """Whether a page of ours led to the address; old browsers do not tell, and are believed."""
    return request.headers.get("Sec-Fetch-Site", "same-origin") == "same-origin"


def read_time(text: str) -> datetime | None:
    """An aware time as our own pages write it into forms, or None."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else None


def by(request: HttpRequest, place: str, why: str = "") -> sources.By:
    """Who decides something on a page, for the record."""
    return sources.By(place, request.user.pk, why)
