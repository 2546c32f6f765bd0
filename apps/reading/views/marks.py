"""What people do with postings."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self, cast, get_args

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.http.request import QueryDict
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.models import User
from apps.accounts.views.requests import present
from apps.following import actions
from apps.following import queries as following
from apps.following.queries import Kind, Scope
from apps.postings import queries as postings
from apps.reading.pages.menu import posting_menu
from apps.stories import actions as stories_actions
from apps.web.pages.rows import row, rows
from apps.web.pages.sidebar import sidebar
from apps.web.views.rendering import PersonsRequest, back, read_time, show

MAX_SEEN = 200  # postings that a browser may report at once
MAX_UP_TO = 1_000  # postings that are marked from the top of a list down to one
_SAID = {"yes": True, "no": False}
_LATEST_IDS = "marked_up_to"  # in the session: what was marked so last


@dataclass(frozen=True, slots=True)
class _List:
    """A list as it stood on a person's page."""

    scope: Scope
    shown_at: datetime

    @classmethod
    def read(cls, form: QueryDict) -> Self | None:
        """What our own pages write into forms, or None."""
        kind, _dash, number = form.get("scope", "").partition("-")
        shown_at = read_time(form.get("shown_at", ""))
        if kind not in get_args(Kind) or not _is_number(number) or shown_at is None:
            return None
        return cls(Scope(cast(Kind, kind), int(number)), shown_at)


# --- one posting ------------------------------------------------------------------------------------------------------
@require_POST
@login_required
def mark(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """`read` or `starred`, each yes or no. Answers with the posting's buttons to htmx."""
    _require_readable(request.user, posting_id)
    read, starred = (_SAID.get(request.POST.get(name, "")) for name in ("read", "starred"))
    if read is not None:
        actions.mark_read(request.user, [posting_id], read=read, now=now())
        if read:
            actions.remember_read(request.user, [posting_id], now=now())
    elif starred is not None:
        actions.star(request.user, posting_id, starred=starred, now=now())
        stories_actions.note_starred(request.user, posting_id, now=now())
    else:
        return HttpResponseBadRequest("Say read or starred, yes or no.")
    if not request.htmx:
        return back(request, "river")
    context: dict[str, object] = {"posting": row(request.user, posting_id), "next": request.POST.get("next", "")}
    if read is not None:
        context["sidebar"] = sidebar(request.user)
    return render(request, "reading/_marked.html", context)


@require_POST
@login_required
def tag(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Put the tag that a form names on a posting, or take it off. Answers with the posting's menu to htmx."""
    _require_readable(request.user, posting_id)
    name, complaint = request.POST.get("tag", ""), ""
    if request.POST.get("do") == "remove":
        actions.untag(request.user, [posting_id], name)
    else:
        try:
            actions.tag(request.user, [posting_id], name, now())
        except actions.NotPossible as error:
            complaint = str(error)
    if request.htmx:
        context = {"page": posting_menu(request.user, posting_id, request.POST), "complaint": complaint}
        return render(request, "reading/_menu.html", context)
    if complaint:
        messages.error(request, complaint)
    return back(request, "posting", posting_id)


@require_safe
@login_required
def menu(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """What else can be done with a posting of a list: a page of its own, or for htmx what unfolds below the row."""
    page = present(posting_menu(request.user, posting_id, request.GET), "There is no such posting.")
    if request.htmx:
        return render(request, "reading/_menu.html", {"page": page})
    return show(request, "reading/menu.html", page=page)


def _require_readable(user: User, posting_id: int) -> None:
    if not following.readable_by(user).filter(pk=posting_id).exists():
        raise Http404("There is no such posting.")


# --- many -------------------------------------------------------------------------------------------------------------
@require_POST
@login_required
def seen(request: PersonsRequest) -> HttpResponse:
    """Postings that somebody has scrolled past, told by a script; answers with their buttons and the new counts."""
    told = request.POST.getlist("posting")
    if len(told) > MAX_SEEN or not all(map(_is_number, told)):
        return HttpResponseBadRequest(f"Name at most {MAX_SEEN} postings, by number.")
    readable = following.readable_by(request.user).filter(pk__in=map(int, told))
    ids = list(readable.values_list("pk", flat=True))
    actions.mark_read(request.user, ids, read=True, now=now())
    actions.remember_read(request.user, ids, now=now())
    context = {"rows": rows(request.user, ids), "next": request.POST.get("next", ""), "sidebar": sidebar(request.user)}
    return render(request, "reading/_seen.html", context)


@require_POST
@login_required
def mark_all(request: PersonsRequest) -> HttpResponse:
    """Everything of a list that was there when the page was made, or what of it is older than so many days."""
    shown, days = _List.read(request.POST), request.POST.get("older_than", "")
    if shown is None or not (days == "" or _is_number(days)):
        return HttpResponseBadRequest("The form is not complete.")
    moment = now()
    before = moment - timedelta(days=min(int(days), 3_650)) if days else None
    marked = actions.mark_all_read(request.user, shown.scope, shown_at=shown.shown_at, now=moment, before=before)
    _tell(request, marked.count, {"undo": marked.undo} if marked.undo is not None else None)
    return back(request, "river")


@require_POST
@login_required
def mark_up_to(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """From the top of a list down to one posting, in the order in which the list was shown."""
    shown = _List.read(request.POST)
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
    _tell(request, len(ids), {"undo": "up-to"})
    return back(request, "river")


@require_POST
@login_required
def undo(request: PersonsRequest) -> HttpResponse:
    """Let be unread again what was marked read at once."""
    what = request.POST.get("undo", "")
    if what == "up-to":
        ids: Collection[int] = request.session.pop(_LATEST_IDS, [])
        actions.mark_read(request.user, ids, read=False, now=now())
        count = len(ids)
    elif _is_number(what):
        count = actions.undo_mark_all(request.user, int(what), now=now())
    else:
        return HttpResponseBadRequest("Say what to undo.")
    said = ngettext("%(count)s article marked as unread.", "%(count)s articles marked as unread.", count)
    messages.success(request, said % {"count": f"{count:,}"} if count else _("There is nothing left to undo."))
    return back(request, "river")


def _tell(request: PersonsRequest, count: int, undo: dict[str, object] | None) -> None:
    """Say how many postings were marked read, with a button that undoes it."""
    said = ngettext("%(count)s article marked as read.", "%(count)s articles marked as read.", count)
    context: dict[str, object] = {"said": said % {"count": f"{count:,}"}, "next": request.POST.get("next", "")}
    if count and undo:
        context |= undo
    messages.success(request, render_to_string("reading/_undo.html", context, request))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 18
