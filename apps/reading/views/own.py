"""History, notes and tags."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.views.requests import errors_shown, person_get, person_post, present
from apps.database.sanitizing import sanitize
from apps.following import actions
from apps.following import queries as following
from apps.reading.pages.own import history_page, notes_page
from apps.web.views.rendering import PersonsRequest, back, place_in_list, require_readable, show


# --- history ----------------------------------------------------------------------------------------------------------
@person_get
def history(request: PersonsRequest) -> HttpResponse:
    start = place_in_list(request)
    part = "reading/_history_rows.html" if start else ""
    return show(request, "reading/history.html", part=part, page=history_page(request.user, start))


@person_post
def clear_history(request: PersonsRequest) -> HttpResponse:
    count = actions.clear_history(request.user)
    text = ngettext(
        "%(count)s article removed from the history.", "%(count)s articles removed from the history.", count
    )
    messages.success(request, text % {"count": f"{count:,}"})
    return redirect("history")


# --- notes ------------------------------------------------------------------------------------------------------------
@person_get
def notes(request: PersonsRequest) -> HttpResponse:
    words = sanitize(request.GET.get("q", "")).strip()[:200]
    page = notes_page(request.user, words, request.GET.get("page", ""))
    return show(request, "reading/notes.html", page=page)


@person_post
def note(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Save a note, or delete it."""
    # Authors may delete a note even if they may no longer open the posting.
    if request.POST.get("do") == "delete":
        if actions.delete_note(request.user, posting_id):
            messages.success(request, _("Note deleted."))
        return back(request, "notes")
    require_readable(request.user, posting_id)
    with errors_shown(request, actions.NotPossible):
        if actions.write_note(request.user, posting_id, sanitize(request.POST.get("text", "")), now=now()):
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
            actions.delete_tag(request.user, tag_id)
            messages.success(request, _("Tag “%(name)s” deleted.") % {"name": found.name})
        case "merge":
            other = following.tag_named(request.user, sanitize(request.POST.get("into", "")))
            if other is not None and actions.merge_tags(request.user, tag_id, other.pk):
                text = _("Tag “%(name)s” merged into “%(other)s”.")
                messages.success(request, text % {"name": found.name, "other": other.name})
            else:
                messages.error(
                    request, _("Choose another of your tags to merge “%(name)s” into.") % {"name": found.name}
                )
        case _other:
            with errors_shown(request, actions.NotPossible):
                actions.rename_tag(request.user, tag_id, sanitize(request.POST.get("name", "")))
    return redirect("tags")
