"""Editing many sources at once, and the change log."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.views.requests import for_staff, staff_get
from apps.dashboard import actions
from apps.dashboard.forms.curating import AuditFilterForm, CurationForm, SourceFilterForm, chosen_ids
from apps.dashboard.forms.sources import PRIVATE
from apps.dashboard.pages.sources import audit_page, curating_page, found_ids
from apps.following import queries as following
from apps.retrieval.reports.source import effect_of_many
from apps.sources.actions.curating import MAX_AT_ONCE, MAX_DELETED, Curation, delete_sources
from apps.sources.models import Source
from apps.web.algorithms.numbers import whole_number
from apps.web.pages import Context
from apps.web.views.rendering import Request, back, by, show


@for_staff
def curate(request: Request) -> HttpResponse:
    """Edit the sources chosen in a list, after a preview of the effect."""
    if request.method != "POST":
        return redirect("sources")
    page = curating_page(_chosen(request))
    if page["too_many"]:
        messages.error(request, _("At most %(most)s feeds can be changed at once.") % {"most": f"{MAX_AT_ONCE:,}"})
        return back(request, "sources")
    if not page["ids"]:
        messages.warning(request, _("No feed was selected."))
        return back(request, "sources")
    match request.POST.get("do", ""):
        case "pause":
            return _carry_out(request, page, Curation(state=Source.State.PAUSED), "a list of sources")
        case "delete":
            return _delete(request, page)
        case "effect":
            return _show_effect(request, page)
        case "change":
            form = CurationForm(request.POST)
            if form.is_valid() and form.curation().listed and not _may_list(request, page):
                form.add_error("listed", PRIVATE)
            if form.is_valid():
                return _carry_out(request, page, form.curation(), "many sources", form.cleaned_data["why"])
            return _show_form(request, page, form)
        case _:
            return _show_form(request, page, CurationForm())


def _may_list(request: Request, page: Context) -> bool:
    return following.publishable_sources(request.user).filter(pk__in=page["ids"]).count() == len(page["ids"])


def _chosen(request: Request) -> list[int]:
    """The selected sources, or all of the list."""
    if "all" in request.POST:
        return found_ids(SourceFilterForm(request.POST).filter())
    return chosen_ids(request.POST, MAX_AT_ONCE)


def _show_form(request: Request, page: Context, form: CurationForm, **preview: Any) -> HttpResponse:
    return show(request, "dashboard/sources_many.html", page=page, form=form, next=_next(request), **preview)


def _next(request: Request) -> str:
    return request.POST.get("next", "")[:2_000]


def _show_effect(request: Request, page: Context) -> HttpResponse:
    """Show the effect of the weights without saving; alone for htmx, or else with the form."""
    form = CurationForm(request.POST)
    form.is_valid()
    curation = form.curation() if not form.errors else Curation()
    found = None if curation.weight is None else effect_of_many(dict.fromkeys(page["ids"], curation.weight), now())
    preview = {"part": "dashboard/_sources_many_effect.html", "is_preview": True}
    return _show_form(request, page, form, **preview, found=found, has_weight=curation.weight is not None)


def _carry_out(request: Request, page: Context, curation: Curation, place: str, why: str = "") -> HttpResponse:
    count = len(actions.curate_sources(page["ids"], curation, now=now(), by=by(request, place, why)))
    messages.success(request, ngettext("%(n)s feed changed.", "%(n)s feeds changed.", count) % {"n": count})
    if same := page["count"] - count:
        messages.info(
            request, ngettext("%(n)s already had these values.", "%(n)s already had these values.", same) % {"n": same}
        )
    return back(request, "sources")


def _delete(request: Request, page: Context) -> HttpResponse:
    """Delete the sources once the user has confirmed it."""
    if page["count"] > MAX_DELETED:
        messages.error(request, _("At most %(most)s feeds can be deleted at once.") % {"most": MAX_DELETED})
        return back(request, "sources")
    if "confirmed" not in request.POST:
        return show(request, "dashboard/sources_many_delete.html", page=page, next=_next(request))
    count = delete_sources(page["ids"], by=by(request, "many sources", request.POST.get("why", "")[:300]))
    messages.success(request, ngettext("%(n)s feed deleted.", "%(n)s feeds deleted.", count) % {"n": count})
    return back(request, "sources")


# --- change log -------------------------------------------------------------------------------------------------------
@staff_get
def audit(request: HttpRequest) -> HttpResponse:
    """The change log."""
    before = whole_number(request.GET.get("before", ""))
    if before is None and request.GET.get("before"):
        raise Http404("There is no such place in the log.")
    chosen = AuditFilterForm(request.GET).filter()
    hidden = not following.may_open_private(request.user)
    return show(request, "dashboard/audit.html", page=audit_page(chosen, before, hidden=hidden))
