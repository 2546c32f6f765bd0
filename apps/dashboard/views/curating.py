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
from apps.dashboard.pages.sources import audit_page, curating_page, effect_of_curation, found_ids
from apps.following import queries as following
from apps.sources import actions as sources
from apps.sources.models import Source
from apps.web.algorithms.numbers import whole_number
from apps.web.pages import Context
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import Request, back, by, show

MAX_NAMED = 5  # in a message


@for_staff
def curate(request: Request) -> HttpResponse:
    """Edit the sources chosen in a list, after a preview of the effect."""
    if request.method != "POST":
        return redirect("sources")
    page = curating_page(_chosen(request))
    if page["too_many"]:
        messages.error(
            request, _("At most %(most)s feeds can be changed at once.") % {"most": f"{page['max_changed']:,}"}
        )
        return back(request, "sources")
    if not page["ids"]:
        messages.warning(request, _("No feed was selected."))
        return back(request, "sources")
    match request.POST.get("do", ""):
        case "ask":
            return _check(request, page)
        case "pause":
            return _carry_out(request, page, sources.Curation(state=Source.State.PAUSED), "a list of sources")
        case "delete":
            return _delete(request, page)
        case "effect":
            return _show_effect(request, page)
        case "change":
            form = CurationForm(request.POST, categories=page["categories"])
            if form.is_valid() and form.curation().listed and not _may_list(request, page):
                form.add_error("listed", PRIVATE)
            if form.is_valid():
                return _carry_out(request, page, form.curation(), "many sources", form.cleaned_data["why"])
            return _show_form(request, page, form)
        case _:
            return _show_form(request, page, CurationForm(categories=page["categories"]))


def _may_list(request: Request, page: Context) -> bool:
    return following.publishable_sources(request.user).filter(pk__in=page["ids"]).count() == len(page["ids"])


def _chosen(request: Request) -> list[int]:
    """The selected sources, or all of the list."""
    if "all" in request.POST:
        return found_ids(SourceFilterForm(request.POST).filter())
    return chosen_ids(request.POST, sources.MAX_AT_ONCE)


def _show_form(request: Request, page: Context, form: CurationForm, **preview: Any) -> HttpResponse:
    return show(request, "dashboard/sources_many.html", page=page, form=form, next=_next(request), **preview)


def _next(request: Request) -> str:
    return request.POST.get("next", "")[:2_000]


def _show_effect(request: Request, page: Context) -> HttpResponse:
    """Show the effect of the weights without saving; alone for htmx, or else with the form."""
    form = CurationForm(request.POST, categories=page["categories"])
    form.is_valid()
    curation = form.curation() if not form.errors else sources.Curation()
    has_weight = curation.weight is not None or curation.factor is not None
    found, part = effect_of_curation(page["ids"], curation, now()), "dashboard/_sources_many_effect.html"
    return _show_form(request, page, form, part=part, is_preview=True, found=found, has_weight=has_weight)


def _carry_out(request: Request, page: Context, curation: sources.Curation, place: str, why: str = "") -> HttpResponse:
    curated = actions.curate_sources(page["ids"], curation, now=now(), by=by(request, place, why))
    count = len(curated.changed)
    messages.success(request, ngettext("%(n)s feed changed.", "%(n)s feeds changed.", count) % {"n": count})
    if curated.same:
        text = ngettext("%(n)s was already so.", "%(n)s were already so.", curated.same)
        messages.info(request, text % {"n": curated.same})
    if curated.refused:
        names = ", ".join(curated.refused[:MAX_NAMED])
        text = ngettext(
            "%(n)s is unchanged because its weight would exceed 1,000: %(names)s",
            "%(n)s are unchanged because their weights would exceed 1,000: %(names)s",
            len(curated.refused),
        )
        messages.warning(request, text % {"n": len(curated.refused), "names": names})
    return back(request, "sources")


def _check(request: Request, page: Context) -> HttpResponse:
    try:
        checked, later = actions.check_many(page["ids"], now=now())
    except sources.TooMany as problem:
        messages.error(request, translate_reason(str(problem)))
        return back(request, "sources")
    text = ngettext("%(n)s feed will be checked shortly.", "%(n)s feeds will be checked shortly.", checked)
    messages.success(request, text % {"n": checked})
    if later:
        text = ngettext(
            "%(n)s will be checked as soon as the rate limit allows.",
            "%(n)s will be checked as soon as the rate limit allows.",
            later,
        )
        messages.info(request, text % {"n": later})
    if rest := page["count"] - checked - later:
        text = ngettext(
            "%(n)s will not be checked: it is paused or gone, or nobody follows it.",
            "%(n)s will not be checked: they are paused or gone, or nobody follows them.",
            rest,
        )
        messages.warning(request, text % {"n": rest})
    return back(request, "sources")


def _delete(request: Request, page: Context) -> HttpResponse:
    """Delete the sources once the user has confirmed it."""
    if page["count"] > page["max_deleted"]:
        messages.error(request, _("At most %(most)s feeds can be deleted at once.") % {"most": page["max_deleted"]})
        return back(request, "sources")
    if "confirmed" not in request.POST:
        return show(request, "dashboard/sources_many_delete.html", page=page, next=_next(request))
    count = sources.delete_sources(page["ids"], by=by(request, "many sources", request.POST.get("why", "")[:300]))
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
