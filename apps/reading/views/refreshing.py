"""Checks that a reader requests for the feeds of a list."""

from datetime import timedelta
from typing import cast

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.timezone import now

from apps.accounts.models import User
from apps.accounts.views.requests import person_get, person_post
from apps.following import queries as following
from apps.following.queries import Kind, Scope
from apps.retrieval import queries as retrieval
from apps.retrieval.actions import refreshing
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.sidebar import sidebar
from apps.web.views.rendering import PersonsRequest, back, read_time

LISTS = {"all", "folder", "source"}
LONGEST_WAIT = timedelta(minutes=1)  # for results on the page
NO_CONTENT = 204  # htmx changes nothing and requests again


@person_post
def refresh(request: PersonsRequest, kind: str, list_id: int) -> HttpResponse:
    """Check the feeds of a list now, or show when they are checked next."""
    scope, moment = _list(kind, list_id), now()
    answer = refreshing.refresh(request.user, _source_ids(request.user, scope), now=moment)
    context = {"scope": scope, "answer": answer, "most": refreshing.MAX_CHECKS, "now": moment}
    if request.htmx:
        return render(request, "reading/_refresh_answer.html", context)
    messages.info(request, render_to_string("reading/_refresh_answer.html", context, request))
    return back(request, "river")


@person_get
def refreshed(request: PersonsRequest, kind: str, list_id: int) -> HttpResponse:
    """What the checks of some feeds of a list have found since a time, once all have ended."""
    scope, since, moment = _list(kind, list_id), read_time(request.GET.get("since", "")), now()
    if since is None:
        raise Http404("There is no such time.")
    wanted = {whole_number(number) for number in request.GET.get("feeds", "").split("-")}
    source_ids = _source_ids(request.user, scope) & wanted
    results = retrieval.results_since(source_ids, since)
    if results.waiting and moment - since < LONGEST_WAIT:
        return HttpResponse(status=NO_CONTENT)
    context: dict[str, object] = {"scope": scope, "results": results, "now": moment}
    if scope.kind == "source":
        context["next"] = retrieval.schedule_of(scope.id)
    if results.new:
        context["sidebar"] = sidebar(request.user)
    return render(request, "reading/_refresh_results.html", context)


def _list(kind: str, list_id: int) -> Scope:
    if kind not in LISTS:
        raise Http404("There is no such list.")
    return Scope(cast(Kind, kind), list_id)


def _source_ids(user: User, scope: Scope) -> set[int]:
    """The followed sources of a list; raises Http404 if there are none."""
    found = set(following.follows_in(user, scope).values_list("source_id", flat=True))
    if not found:
        raise Http404("You follow no feeds in this list.")
    return found
