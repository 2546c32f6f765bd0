"""Marks, tags, notes, shared postings, playback positions, and the history."""

from collections.abc import Collection
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple, cast, get_args

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.http.request import QueryDict
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.models import User
from apps.accounts.views.requests import errors_shown, person_get, person_post, present
from apps.database.sanitizing import sanitize
from apps.following import actions
from apps.following import queries as following
from apps.following.queries import Kind, Scope
from apps.following.queries.states import posting_state
from apps.postings import queries as postings
from apps.published_feeds.pages import menu_of_shared
from apps.reading.pages.posting import attachments, history_page, notes_page, posting_menu, shared_page, shares_page
from apps.stories import actions as stories_actions
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.rows import row, rows
from apps.web.pages.sidebar import sidebar
from apps.web.views.rendering import (
    PersonsRequest,
    Request,
    back,
    filter_words,
    place_in_list,
    read_time,
    require_readable,
    show,
)

MAX_SEEN = 200  # postings that a browser may report at once
MAX_UP_TO = 1_000  # postings that are marked from the top of a list down to one
_YES_NO = {"yes": True, "no": False}
_LATEST_IDS = "marked_up_to"  # session key, for undo


class _List(NamedTuple):
    """A list as a page showed it."""

    scope: Scope
    shown_at: datetime


def list_in(form: QueryDict) -> _List | None:
    """The list that a form of the portal names, or None."""
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
        actions.marks.mark_read(request.user, [posting_id], read=read, now=now())
        if read:
            actions.marks.remember_read(request.user, [posting_id], now=now())
    elif starred is not None:
        changed = actions.marks.star(request.user, posting_id, starred=starred, now=now())
        stories_actions.learning.note_all_starred(request.user, changed, now=now())
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
        actions.marks.untag(request.user, [posting_id], name)
    else:
        try:
            actions.marks.tag(request.user, [posting_id], name, now())
        except actions.errors.NotPossible as error:
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
    actions.marks.mark_read(request.user, ids, read=True, now=now())
    actions.marks.remember_read(request.user, ids, now=now())
    context = {"rows": rows(request.user, ids), "next": request.POST.get("next", ""), "sidebar": sidebar(request.user)}
    return render(request, "reading/_seen.html", context)


@person_post
def mark_all(request: PersonsRequest) -> HttpResponse:
    """Mark a list as read as of the page's rendering, or only postings older than some days."""
    shown, days = list_in(request.POST), request.POST.get("older_than", "")
    if shown is None or not (days == "" or _is_number(days)):
        return HttpResponseBadRequest("The form is not complete.")
    at = now()
    before = at - timedelta(days=min(int(days), 3_650)) if days else None
    marked = actions.marking.mark_all_read(request.user, shown.scope, shown_at=shown.shown_at, now=at, before=before)
    _notify(request, marked.count, {"undo": marked.undo} if marked.undo is not None else None)
    return back(request, "river")


@person_post
def mark_up_to(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Mark postings as read from the top of a list down to one."""
    shown = list_in(request.POST)
    if shown is None:
        return HttpResponseBadRequest("The form is not complete.")
    posting = present(following.readable_by(request.user).filter(pk=posting_id).first(), "There is no such posting.")
    ids = following.unread_up_to(
        request.user,
        shown.scope,
        postings.cursor_of(posting),
        oldest_first=request.POST.get("order") == User.Order.OLDEST,
        shown_at=shown.shown_at,
        most=MAX_UP_TO,
    )
    actions.marks.mark_read(request.user, ids, read=True, now=now())
    request.session[_LATEST_IDS] = ids
    _notify(request, len(ids), {"undo": "up-to"})
    return back(request, "river")


@person_post
def undo(request: PersonsRequest) -> HttpResponse:
    """Undo marking several postings as read."""
    what = request.POST.get("undo", "")
    if what == "up-to":
        ids: Collection[int] = request.session.pop(_LATEST_IDS, [])
        actions.marks.mark_read(request.user, ids, read=False, now=now())
        count = len(ids)
    elif _is_number(what):
        count = actions.marking.undo_mark_all(request.user, int(what), now=now())
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


# --- history ----------------------------------------------------------------------------------------------------------
@person_get
def history(request: PersonsRequest) -> HttpResponse:
    start = place_in_list(request)
    part = "reading/_history_rows.html" if start else ""
    return show(request, "reading/history.html", part=part, page=history_page(request.user, start))


@person_post
def clear_history(request: PersonsRequest) -> HttpResponse:
    count = actions.marks.clear_history(request.user)
    text = ngettext(
        "%(count)s article removed from the history.", "%(count)s articles removed from the history.", count
    )
    messages.success(request, text % {"count": f"{count:,}"})
    return redirect("history")


# --- notes ------------------------------------------------------------------------------------------------------------
@person_get
def notes(request: PersonsRequest) -> HttpResponse:
    page = notes_page(request.user, filter_words(request, "q"), request.GET.get("page", ""))
    return show(request, "reading/notes.html", page=page)


@person_post
def note(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Save a note, or delete it."""
    # Authors may delete a note even if they may no longer open the posting.
    if request.POST.get("do") == "delete":
        if actions.marks.delete_note(request.user, posting_id):
            messages.success(request, _("Note deleted."))
        return back(request, "notes")
    require_readable(request.user, posting_id)
    with errors_shown(request, actions.errors.NotPossible):
        if actions.marks.write_note(request.user, posting_id, sanitize(request.POST.get("text", "")), now=now()):
            messages.success(request, _("Note saved."))
    return back(request, "posting", posting_id)


# --- tags -------------------------------------------------------------------------------------------------------------
@person_get
def tags(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/tags.html", tags=list(following.counted_tags(request.user)))


@person_post
def change_tag(request: PersonsRequest, tag_id: int) -> HttpResponse:
    """Rename, merge or delete a tag."""
    found = present(following.tag_of(request.user, tag_id), "You have no such tag.")
    match request.POST.get("do"):
        case "delete":
            actions.marks.delete_tag(request.user, tag_id)
            messages.success(request, _("Tag “%(name)s” deleted.") % {"name": found.name})
        case "merge":
            other = following.tag_named(request.user, sanitize(request.POST.get("into", "")))
            if other is not None and actions.marks.merge_tags(request.user, tag_id, other.pk):
                text = _("Tag “%(name)s” merged into “%(other)s”.")
                messages.success(request, text % {"name": found.name, "other": other.name})
            else:
                messages.error(
                    request, _("Choose another of your tags to merge “%(name)s” into.") % {"name": found.name}
                )
        case _other:
            with errors_shown(request, actions.errors.NotPossible):
                actions.marks.rename_tag(request.user, tag_id, sanitize(request.POST.get("name", "")))
    return redirect("tags")


# --- sharing ----------------------------------------------------------------------------------------------------------
@person_post
def share(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Share a posting, or stop sharing it."""
    if request.POST.get("do") == "end":
        if actions.marks.unshare(request.user, posting_id):
            messages.success(request, _("The link no longer works."))
        return back(request, "shares")
    require_readable(request.user, posting_id)
    with errors_shown(request, actions.errors.NotPossible):
        actions.marks.share(request.user, posting_id, now=now())
    return redirect(reverse("posting", args=[posting_id]) + "#share")


@person_get
def shares(request: PersonsRequest) -> HttpResponse:
    page = shares_page(request.user, request.GET.get("page", ""))
    return show(request, "reading/shares.html", page=page, feeds=menu_of_shared(request.user))


@require_safe
def shared(request: Request, share_secret: str) -> HttpResponse:
    """Public for those who know the address, which neither search engines nor other sites learn."""
    page = present(shared_page(share_secret), "Nothing is shared at this address, or no longer.")
    response = show(request, "reading/shared.html", alone=True, page=page)
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "private, no-store"  # no longer visible once sharing ends
    return response


# --- playback positions, read and stored by a script of the page ------------------------------------------------------
@require_http_methods(["GET", "POST"])
@login_required
def position(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """The position as `number` of the recording and `seconds`; 0 s: at the beginning or the end."""
    posting = present(following.readable_by(request.user).filter(pk=posting_id).first(), "There is no such posting.")
    own = posting_state(request.user, posting_id) if request.method == "GET" else None
    carried = attachments(posting.enclosures, own.place if own else None)
    recordings = {each.number: each for each in carried if each.player}
    if request.method == "GET":
        at = next((each for each in recordings.values() if each.seconds), None)
        return JsonResponse({"number": at.number if at else None, "seconds": at.seconds if at else 0})
    number, seconds = whole_number(request.POST.get("number", "")), _seconds(request.POST.get("seconds", ""))
    if number is None or seconds is None:
        return HttpResponseBadRequest("Say which recording, and how many seconds of it.")
    recording = recordings.get(number)
    if recording is None:
        return HttpResponseBadRequest(f"The posting carries no recording {number}.")
    if seconds < 1:
        actions.marks.forget_position(request.user, posting_id)
    else:
        actions.marks.save_position(request.user, posting_id, recording.address, seconds, now=now())
    return HttpResponse(status=204)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None
