"""Checks that a reader requests for the feeds of a list."""

from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.timezone import now

from apps.accounts.models import User
from apps.accounts.views.requests import person_get, person_post, present
from apps.following import queries as following
from apps.following.queries import Scope
from apps.reading.views.marks import list_in
from apps.retrieval import queries as retrieval
from apps.retrieval.actions import refreshing
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.sidebar import sidebar
from apps.web.views.rendering import PersonsRequest, back

LONGEST_WAIT = timedelta(minutes=1)  # for results on the page
NO_CONTENT = 204  # htmx changes nothing and requests again


@person_post
def refresh(request: PersonsRequest) -> HttpResponse:
    """Check the feeds of a list now, or show when they are checked next."""
    shown = present(list_in(request.POST), "There is no such list.")
    answer = refreshing.refresh(request.user, _source_ids(request.user, shown.scope), now=now())
    context = {"scope": shown.scope, "answer": answer, "most": refreshing.MAX_CHECKS, "now": now()}
    if request.htmx:
        return render(request, "reading/_refresh_answer.html", context)
    messages.info(request, render_to_string("reading/_refresh_answer.html", context, request))
    return back(request, "river")


@person_get
def refreshed(request: PersonsRequest) -> HttpResponse:
    """What the checks of some feeds of a list have found since it was shown, once all have ended."""
    scope, since = present(list_in(request.GET), "There is no such list.")
    wanted = {whole_number(number) for number in request.GET.get("feeds", "").split("-")}
    results = retrieval.results_since(_source_ids(request.user, scope) & wanted, since)
    if results.waiting and now() - since < LONGEST_WAIT:
        return HttpResponse(status=NO_CONTENT)
    context: dict[str, object] = {"scope": scope, "results": results, "now": now()}
    if scope.kind == "source":
        context["next"] = retrieval.schedule_of(scope.id)
    if results.new:
        context["sidebar"] = sidebar(request.user)
    return render(request, "reading/_refresh_results.html", context)


def _source_ids(user: User, scope: Scope) -> set[int]:
    """The followed sources of a list; raises Http404 if there are none."""
    found = set(following.follows_in(user, scope).values_list("source_id", flat=True))
    if not found:
        raise Http404("You follow no feeds in this list.")
    return found
