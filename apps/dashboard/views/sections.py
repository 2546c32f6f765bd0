"""Administration of the front page's sections."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import for_staff, staff_get, staff_post
from apps.dashboard.forms.sections import SectionForm
from apps.dashboard.pages.sections import preview, sections_page
from apps.search.algorithms.language import BadQuery
from apps.sources import queries as sources
from apps.stories import actions
from apps.stories.actions import NotASection
from apps.stories.models import Section
from apps.web.pages import Context
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import show


@staff_get
def index(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/sections.html", page=sections_page(now()))


@for_staff
def edit(request: HttpRequest, section_id: int | None = None) -> HttpResponse:
    """Edit a section, or add one."""
    section = get_object_or_404(Section, pk=section_id) if section_id is not None else None
    form = SectionForm(request.POST or None, section=section)
    tried = None
    if request.method == "POST":
        is_valid = form.is_valid()
        if request.POST.get("do") == "try":
            tried = preview(Section(**form.values()), now()) if is_valid else _complaint(form)
        elif is_valid and _saved(form, form.values(), section):
            messages.success(request, _("Saved. The front page is updated shortly."))
            return redirect("sections")
    return show(
        request,
        "dashboard/section_form.html",
        form=form,
        section=section,
        tried=tried,
        categories=sources.categories(sources.listed()),
    )


def _complaint(form: SectionForm) -> Context:
    """Why there is no preview: a wrong query first, with the position of the error."""
    if "query" in form.errors and (raw := str(form["query"].value() or "")[:1_000]):
        return preview(Section(query=raw), now())
    return {"problem": " ".join(f"{form[name].label}: {errors[0]}" for name, errors in form.errors.items())}


def _saved(form: SectionForm, values: dict[str, Any], section: Section | None) -> bool:
    try:
        if section is None:
            actions.add_section(values, now=now())
        else:
            actions.edit_section(section.pk, values, now=now())
    except (NotASection, BadQuery) as problem:
        form.add_error(None, translate_reason(str(problem)))
        return False
    return True


@staff_post
def move(request: HttpRequest, section_id: int) -> HttpResponse:
    get_object_or_404(Section, pk=section_id)
    actions.move_section(section_id, up=request.POST.get("way") == "up")
    return redirect("sections")


@staff_post
def delete(request: HttpRequest, section_id: int) -> HttpResponse:
    section = get_object_or_404(Section, pk=section_id)
    actions.delete_section(section_id)
    messages.success(request, _("Section %(title)s deleted.") % {"title": section.title})
    return redirect("sections")
