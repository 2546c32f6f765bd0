"""Highlighted passages, with notes."""

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import errors_shown, person_get, person_post, present
from apps.database.sanitizing import sanitize
from apps.following import actions
from apps.following import queries as following
from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import MAX_NOTE_LENGTH
from apps.following.algorithms.passages import Passage
from apps.reading.pages.highlights import exported, highlights_page
from apps.web.views.rendering import PersonsRequest, back, filter_words, show


@person_get
def highlights(request: PersonsRequest) -> HttpResponse:
    page = highlights_page(request.user, filter_words(request, "q"), request.GET.get("page", ""))
    return show(request, "reading/highlights.html", page=page)


@person_post
def highlight(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Highlight a passage, pasted or selected."""
    posting = present(following.readable_by(request.user).filter(pk=posting_id).first(), "There is no such posting.")
    quote, prefix, suffix, note = (
        sanitize(request.POST.get(name, "")) for name in ("quote", "prefix", "suffix", "note")
    )
    # Its page shows the form with it.
    request.session["draft"] = posting_id, quote[: actions.highlights.MAX_QUOTE_LENGTH], note[:MAX_NOTE_LENGTH]
    with errors_shown(request, NotPossible):
        passage = Passage(quote, prefix[-200:], suffix[:200])
        actions.highlights.highlight(request.user, posting, passage, note=note, now=now())
        del request.session["draft"]
        messages.success(request, _("Passage highlighted."))
    return back(request, "posting", posting_id)


@person_post
def change_highlight(request: PersonsRequest, highlight_id: int) -> HttpResponse:
    """Replace the note of a highlight, or delete both."""
    if request.POST.get("do") == "delete":
        if actions.highlights.forget_highlight(request.user, highlight_id):
            messages.success(request, _("Highlight removed."))
        return back(request, "highlights")
    with errors_shown(request, NotPossible):
        note = sanitize(request.POST.get("note", ""))
        if not actions.highlights.write_highlight_note(request.user, highlight_id, note):
            raise Http404("You have no such highlight.")
        messages.success(request, _("Note saved."))
    return back(request, "highlights")


@person_get
def export(request: PersonsRequest, kind: str) -> HttpResponse:
    """The highlights as a file, Markdown or JSON."""
    articles = exported(request.user, filter_words(request, "q"))
    if kind == "json":
        options = {"ensure_ascii": False, "indent": 1}
        answer: HttpResponse = JsonResponse({"articles": articles}, json_dumps_params=options)
    else:
        text = render_to_string("reading/highlights.md", {"articles": articles})
        answer = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="highlights.{kind}"'
    return answer
