"""Marks of postings: read, starred, tags."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple, cast, get_args

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.http.request import QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.accounts.views.requests import person_get, person_post, present
from apps.following import actions
from apps.following import queries as following
from apps.following.queries import Kind, Scope
from apps.postings import queries as postings
from apps.reading.pages.menu import posting_menu
from apps.stories import actions as stories_actions
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.rows import row, rows
from apps.web.pages.sidebar import sidebar
from apps.web.views.rendering import PersonsRequest, back, read_time, require_readable, show

MAX_SEEN = 200  # postings that a browser may report at once
MAX_UP_TO = 1_000  # postings that are marked from the top of a list down to one
_YES_NO = {"yes": True, "no": False}
_LATEST_IDS = "marked_up_to"  # session key, for undo


class _List(NamedTuple):
    """A list as a page showed it."""

    scope: Scope
    shown_at: datetime


def list_in(form: QueryDict) -> _List | None:
    """The list in a form of ours, or None."""
    kind, _dash, number = form.get("scope", "").partition("-")
    shown_at = read_time(form.get("shown_at", ""))
    if kind not in get_args(Kind) or not _is_number(number) or shown_at is None:
        return None
    return _List(Scope(cast(Kind, kind), int(number)), shown_at)


# --- one posting ------------------------------------------------------------------------------------------------------
@person_post
def mark(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Set `read` or `starred`, each yes or no; htmx gets the posting's buttons."""
    require_readable(request.user, posting_id)
    read, starred = (_YES_NO.get(request.POST.get(name, "")) for name in ("read", "starred"))
    if read is not None:
        actions.mark_read(request.user, [posting_id], read=read, now=now())
        if read:
            actions.remember_read(request.user, [posting_id], now=now())
    elif starred is not None:
        changed = actions.star(request.user, posting_id, starred=starred, now=now())
        stories_actions.note_all_starred(request.user, changed, now=now())
    else:
        return HttpResponseBadRequest("Say read or starred, yes or no.")
    if not request.htmx:
        return back(request, "river")
    in_pane = (request.htmx.trigger or "").startswith("tools-pane")
    context: dict[str, object] = {
        "posting": row(request.user, posting_id),
        "next": request.POST.get("next", ""),
        "place": "pane-" if in_pane else "",
        "other": "" if in_pane else "pane-",
        "also": "also" in request.POST,  # the other place is shown, too
    }
    if read is not None:
        context["sidebar"] = sidebar(request.user)
    return render(request, "reading/_marked.html", context)


@person_post
def tag(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Add a tag to a posting, or remove it; in a list, htmx gets the posting's menu."""
    require_readable(request.user, posting_id)
    name, complaint = request.POST.get("tag", ""), ""
    if request.POST.get("do") == "remove":
        actions.untag(request.user, [posting_id], name)
    else:
        try:
            actions.tag(request.user, [posting_id], name, now())
        except actions.NotPossible as error:
            complaint = str(error)
    if request.htmx and not request.htmx.boosted:
        context = {"page": posting_menu(request.user, posting_id, request.POST), "complaint": complaint}
        return render(request, "reading/_menu.html", context)
    if complaint:
        messages.error(request, complaint)
    return back(request, "posting", posting_id)


@person_get
def menu(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """The menu of a posting in a list: its own page, or for htmx the part below the row."""
    page = present(posting_menu(request.user, posting_id, request.GET), "There is no such posting.")
    return show(request, "reading/menu.html", part="reading/_menu.html", page=page)


@person_get
def counts(request: PersonsRequest) -> HttpResponse:
    """The sidebar's numbers, for htmx after an article was opened beside its list."""
    return render(request, "reading/_counts.html", {"sidebar": sidebar(request.user)})


# --- many -------------------------------------------------------------------------------------------------------------
@person_post
def seen(request: PersonsRequest) -> HttpResponse:
    """Mark postings as read that the user has scrolled past; returns their buttons and the new counts."""
    numbers = request.POST.getlist("posting")
    if len(numbers) > MAX_SEEN or not all(map(_is_number, numbers)):
        return HttpResponseBadRequest(f"Name at most {MAX_SEEN} postings, by number.")
    readable = following.readable_by(request.user).filter(pk__in=map(int, numbers))
    ids = list(readable.values_list("pk", flat=True))
    actions.mark_read(request.user, ids, read=True, now=now())
    actions.remember_read(request.user, ids, now=now())
    context = {"rows": rows(request.user, ids), "next": request.POST.get("next", ""), "sidebar": sidebar(request.user)}
    return render(request, "reading/_seen.html", context)


@person_post
def mark_all(request: PersonsRequest) -> HttpResponse:
    """Mark a list as read as of the page's rendering, or only postings older than some days."""
    shown, days = list_in(request.POST), request.POST.get("older_than", "")
    if shown is None or not (days == "" or _is_number(days)):
        return HttpResponseBadRequest("The form is not complete.")
    moment = now()
    before = moment - timedelta(days=min(int(days), 3_650)) if days else None
    marked = actions.mark_all_read(request.user, shown.scope, shown_at=shown.shown_at, now=moment, before=before)
    _notify(request, marked.count, {"undo": marked.undo} if marked.undo is not None else None)
    return back(request, "river")


@person_post
def mark_up_to(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Mark postings as read from the top of a list down to one."""
    shown = list_in(request.POST)
    posting = following.readable_by(request.user).filter(pk=posting_id).first()
    if shown is None:
        return HttpResponseBadRequest("The form is not complete.")
    if posting is None:
        raise Http404("There is no such posting.")
    ids = following.unread_up_to(
        request.user,
        shown.scope,
        postings.cursor_of(posting),
        oldest_first=request.POST.get("order") == User.Order.OLDEST,
        shown_at=shown.shown_at,
        most=MAX_UP_TO,
    )
    actions.mark_read(request.user, ids, read=True, now=now())
    request.session[_LATEST_IDS] = ids
    _notify(request, len(ids), {"undo": "up-to"})
    return back(request, "river")


@person_post
def undo(request: PersonsRequest) -> HttpResponse:
    """Undo marking several postings as read."""
    what = request.POST.get("undo", "")
    if what == "up-to":
        ids: Collection[int] = request.session.pop(_LATEST_IDS, [])
        actions.mark_read(request.user, ids, read=False, now=now())
        count = len(ids)
    elif _is_number(what):
        count = actions.undo_mark_all(request.user, int(what), now=now())
    else:
        return HttpResponseBadRequest("Say what to undo.")
    text = ngettext("%(count)s article marked as unread.", "%(count)s articles marked as unread.", count)
    messages.success(request, text % {"count": f"{count:,}"} if count else _("There is nothing left to undo."))
    return back(request, "river")


def _notify(request: PersonsRequest, count: int, undo: dict[str, object] | None) -> None:
    """Show how many postings were marked as read, with an undo button."""
    text = ngettext("%(count)s article marked as read.", "%(count)s articles marked as read.", count)
    context: dict[str, object] = {"text": text % {"count": f"{count:,}"}, "next": request.POST.get("next", "")}
    if count and undo:
        context |= undo
    messages.success(request, render_to_string("reading/_undo.html", context, request))


def _is_number(text: str) -> bool:
    return whole_number(text) is not None
