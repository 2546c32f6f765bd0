"""Decisions of staff on many sources at once, and the record of all decisions."""

import csv
from collections.abc import Iterator

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from apps.accounts.views.requests import for_staff
from apps.dashboard import actions
from apps.dashboard.forms.curating import AuditFilterForm, CurationForm, chosen_ids
from apps.dashboard.forms.filters import SourceFilterForm
from apps.dashboard.forms.sources import PRIVATE
from apps.dashboard.pages.audit import COLUMNS, audit_page, audit_rows
from apps.dashboard.pages.curating import CuratingPage, curating_page, effect_of_wish, found_ids
from apps.following import queries as following
from apps.retrieval.reports.source import EffectOnMany
from apps.sources import actions as sources
from apps.sources.models import Source
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import Request, back, by, show

MAX_NAMED = 5  # in a message


@for_staff
def curate(request: Request) -> HttpResponse:
    """From the list of sources: choose, see what a change would do, change."""
    if request.method != "POST":
        return redirect("sources")
    page = curating_page(_chosen(request))
    if page.too_many:
        messages.error(request, _("At most %(most)s feeds can be changed at once.") % {"most": f"{page.most:,}"})
        return back(request, "sources")
    if not page.ids:
        messages.warning(request, _("No feed was selected."))
        return back(request, "sources")
    match request.POST.get("do", ""):
        case "ask":
            return _ask(request, page)
        case "pause":
            return _carry_out(request, page, sources.Curation(state=Source.State.PAUSED), "a list of sources")
        case "delete":
            return _delete(request, page)
        case "effect":
            return _show_effect(request, page)
        case "change":
            form = CurationForm(request.POST, categories=page.categories)
            if form.is_valid() and form.wish().listed and not _may_list(request, page):
                form.add_error("listed", PRIVATE)
            if form.is_valid():
                return _carry_out(request, page, form.wish(), "many sources", form.cleaned_data["why"])
            return _show_form(request, page, form)
        case _:
            return _show_form(request, page, CurationForm(categories=page.categories))


def _may_list(request: Request, page: CuratingPage) -> bool:
    return following.publishable_sources(request.user).filter(pk__in=page.ids).count() == page.count


def _chosen(request: Request) -> list[int]:
    """The chosen sources, or all that the list shows."""
    if "all" in request.POST:
        return found_ids(SourceFilterForm(request.POST).filter())
    return chosen_ids(request.POST, sources.MAX_AT_ONCE)


def _show_form(
    request: Request,
    page: CuratingPage,
    form: CurationForm,
    *,
    looked: bool = False,
    found: EffectOnMany | None = None,
    asked: bool = False,
) -> HttpResponse:
    return show(
        request,
        "dashboard/sources_many.html",
        page=page,
        form=form,
        next=_next(request),
        looked=looked,
        found=found,
        asked=asked,
    )


def _next(request: Request) -> str:
    return request.POST.get("next", "")[:2_000]


def _show_effect(request: Request, page: CuratingPage) -> HttpResponse:
    """What the weights would do: alone to htmx, or else with the form, which is not carried out."""
    form = CurationForm(request.POST, categories=page.categories)
    form.is_valid()
    wish = form.wish() if not form.errors else sources.Curation()
    effect = effect_of_wish(page.ids, wish, now())
    asked = wish.weight is not None or wish.factor is not None
    if request.htmx:
        context = {"form": form, "found": effect, "asked": asked}
        return render(request, "dashboard/_sources_many_effect.html", context)
    return _show_form(request, page, form, looked=True, found=effect, asked=asked)


def _carry_out(request: Request, page: CuratingPage, wish: sources.Curation, place: str, why: str = "") -> HttpResponse:
    curated = actions.curate_sources(page.ids, wish, now=now(), by=by(request, place, why))
    count = len(curated.changed)
    messages.success(request, ngettext("%(n)s feed changed.", "%(n)s feeds changed.", count) % {"n": count})
    if curated.same:
        said = ngettext("%(n)s was already so.", "%(n)s were already so.", curated.same)
        messages.info(request, said % {"n": curated.same})
    if curated.refused:
        names = ", ".join(curated.refused[:MAX_NAMED])
        said = ngettext(
            "%(n)s is unchanged because its weight would exceed 1,000: %(names)s",
            "%(n)s are unchanged because their weights would exceed 1,000: %(names)s",
            len(curated.refused),
        )
        messages.warning(request, said % {"n": len(curated.refused), "names": names})
    return back(request, "sources")


def _ask(request: Request, page: CuratingPage) -> HttpResponse:
    try:
        asked, later = actions.ask_many(page.ids, now=now())
    except sources.TooMany as problem:
        messages.error(request, translate_reason(str(problem)))
        return back(request, "sources")
    said = ngettext("%(n)s feed will be checked shortly.", "%(n)s feeds will be checked shortly.", asked)
    messages.success(request, said % {"n": asked})
    if later:
        said = ngettext(
            "%(n)s will be checked as soon as the rate limit allows.",
            "%(n)s will be checked as soon as the rate limit allows.",
            later,
        )
        messages.info(request, said % {"n": later})
    if rest := page.count - asked - later:
        said = ngettext(
            "%(n)s will not be checked: it is paused or gone, or nobody follows it.",
            "%(n)s will not be checked: they are paused or gone, or nobody follows them.",
            rest,
        )
        messages.warning(request, said % {"n": rest})
    return back(request, "sources")


def _delete(request: Request, page: CuratingPage) -> HttpResponse:
    """After a page that says what that means."""
    if page.count > page.most_deleted:
        messages.error(request, _("At most %(most)s feeds can be deleted at once.") % {"most": page.most_deleted})
        return back(request, "sources")
    if "confirmed" not in request.POST:
        return show(request, "dashboard/sources_many_delete.html", page=page, next=_next(request))
    count = sources.delete_sources(page.ids, by=by(request, "many sources", request.POST.get("why", "")[:300]))
    messages.success(request, ngettext("%(n)s feed deleted.", "%(n)s feeds deleted.", count) % {"n": count})
    return back(request, "sources")


# --- the record -------------------------------------------------------------------------------------------------------
class _Echo:
    """A file that hands back what is written."""

    def write(self, line: str) -> str:
        return line


@require_safe
@for_staff
def audit(request: HttpRequest) -> HttpResponse:
    """Who decided what of sources and of the portal."""
    before = request.GET.get("before", "")
    if before and not (before.isascii() and before.isdecimal() and len(before) < 19):
        raise Http404("There is no such place in the record.")
    chosen = AuditFilterForm(request.GET).filter()
    hidden = not following.may_open_private(request.user)
    return show(
        request, "dashboard/audit.html", page=audit_page(chosen, int(before) if before else None, now(), hidden=hidden)
    )


@require_safe
@for_staff
def audit_csv(request: HttpRequest) -> StreamingHttpResponse:
    """The same for a spreadsheet."""
    writer = csv.writer(_Echo())
    hidden = not following.may_open_private(request.user)

    def lines() -> Iterator[str]:
        yield writer.writerow(COLUMNS)
        for row in audit_rows(AuditFilterForm(request.GET).filter(), hidden=hidden):
            yield writer.writerow(row)

    answer = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="changes-{now():%Y-%m-%d}.csv"'
    return answer
