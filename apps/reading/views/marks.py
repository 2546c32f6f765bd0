"""What people do with postings."""

from typing import cast, get_args

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.http import require_POST

from apps.following import actions
from apps.following import queries as following
from apps.following.queries import Kind, Scope
from apps.reading.pages.rows import row
from apps.reading.pages.sidebar import sidebar
from apps.reading.views.rendering import PersonsRequest, back, read_time
from apps.stories import actions as stories_actions

_SAID = {"yes": True, "no": False}


@require_POST
@login_required
def mark(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """`read` or `starred`, each yes or no. Answers with the posting's buttons to htmx."""
    if not following.readable_by(request.user).filter(pk=posting_id).exists():
        raise Http404("There is no such posting.")
    read, starred = (_SAID.get(request.POST.get(name, "")) for name in ("read", "starred"))
    if read is not None:
        actions.mark_read(request.user, [posting_id], read=read, now=now())
    elif starred is not None:
        actions.star(request.user, posting_id, starred=starred, now=now())
        stories_actions.note_starred(request.user, posting_id, now=now())
    else:
        return HttpResponseBadRequest("Say read or starred, yes or no.")
    if not request.htmx:
        return back(request, "river")
    context: dict[str, object] = {"posting": row(posting_id, request.user), "next": request.POST.get("next", "")}
    if read is not None:
        context["sidebar"] = sidebar(request.user)
    return render(request, "reading/_marked.html", context)


@require_POST
@login_required
def tag(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Put the tag that a form names on a posting, or take it off."""
    if not following.readable_by(request.user).filter(pk=posting_id).exists():
        raise Http404("There is no such posting.")
    name = request.POST.get("tag", "")
    if request.POST.get("do") == "remove":
        actions.untag(request.user, [posting_id], name)
    else:
        try:
            actions.tag(request.user, [posting_id], name, now())
        except actions.NotPossible as error:
            messages.error(request, str(error))
    return redirect("posting", posting_id)


@require_POST
@login_required
def mark_all(request: PersonsRequest) -> HttpResponse:
    """Everything of a list that was there when the page was made."""
    kind, _, number = request.POST.get("scope", "").partition("-")
    shown_at = read_time(request.POST.get("shown_at", ""))
    if kind not in get_args(Kind) or not (number.isascii() and number.isdecimal()) or shown_at is None:
        return HttpResponseBadRequest("The form is not complete.")
    scope = Scope(cast(Kind, kind), int(number))
    actions.mark_all_read(request.user, scope, shown_at=shown_at, now=now())
    return back(request, "river")
