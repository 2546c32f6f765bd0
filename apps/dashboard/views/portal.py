"""What concerns the portal as a whole: the plan of its retrievals, its jobs, and the sections of its front page."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.functional import Promise
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.views.requests import for_staff, present, staff_get, staff_post
from apps.dashboard.forms.plan import PlanForm
from apps.dashboard.forms.sections import SectionForm
from apps.dashboard.pages.jobs import job_page, jobs_page
from apps.dashboard.pages.plan import plan_page
from apps.dashboard.pages.sections import preview, sections_page
from apps.dashboard.pages.source_plan import source_plan_page
from apps.jobs import actions as jobs
from apps.retrieval import actions as retrieval
from apps.search.algorithms.language import BadQuery
from apps.sources import queries as sources
from apps.stories import actions as stories
from apps.stories.actions import NotASection
from apps.stories.models import Section
from apps.web.pages import Context
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import PersonsRequest, back, by, show


@for_staff
def plan(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        form = PlanForm(request.POST)
        if form.is_valid() and _changed(request, form):
            messages.success(request, _("Saved. All feeds are rescheduled within a minute."))
            return redirect("plan")
    page = plan_page(
        words=request.GET.get("words", "")[:200],
        sort=request.GET.get("sort", ""),
        number=request.GET.get("page", "1"),
        now=now(),
    )
    if request.method != "POST":
        form = PlanForm(initial={name: getattr(page["plan"], name) for name in PlanForm.base_fields})
    return show(request, "dashboard/plan.html", page=page, form=form)


def _changed(request: HttpRequest, form: PlanForm) -> bool:
    try:
        retrieval.change_plan(**form.cleaned_data, by=by(request, "the plan"))
    except ValueError as problem:
        form.add_error(None, _("This plan is not possible: {problem}.").format(problem=translate_reason(str(problem))))
        return False
    return True


@staff_get
def of_source(request: HttpRequest, source_id: int) -> HttpResponse:
    page = present(source_plan_page(request.user, source_id, now()), "There is no such source.")
    return show(request, "dashboard/source_plan.html", page=page)


# --- jobs -------------------------------------------------------------------------------------------------------------
CHANGES: dict[str, tuple[Callable[[int], bool], Promise]] = {
    "pause": (jobs.pause, gettext_lazy("Job {number} paused; its workers stop within seconds.")),
    "resume": (jobs.resume, gettext_lazy("Job {number} resumed.")),
    "cancel": (jobs.cancel, gettext_lazy("Job {number} cancelled; finished parts are kept.")),
    "retry": (jobs.try_again, gettext_lazy("Retrying job {number}.")),
}


@staff_get
def jobs_list(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/jobs.html", part="dashboard/_jobs.html", page=jobs_page())


@staff_get
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    return show(request, "dashboard/job.html", part="dashboard/_job.html", page=_job(job_id))


@staff_post
def start_job(request: PersonsRequest) -> HttpResponse:
    try:
        job, is_new = jobs.create(request.POST.get("kind", ""), requested_by=request.user.get_username())
    except LookupError as error:
        raise Http404("There is no such kind of job.") from error
    if is_new:
        messages.success(request, _("Job {number} created; workers start within seconds.").format(number=job.pk))
    else:
        messages.info(request, _("Job {number} already does this and is still running.").format(number=job.pk))
    return redirect("job", job.pk)


@staff_post
def change_job(request: HttpRequest, job_id: int, what: str) -> HttpResponse:
    page = _job(job_id)
    if what not in CHANGES:
        raise Http404("There is no such change.")
    do, text = CHANGES[what]
    if do(job_id):  # beat notifies the workers within seconds
        messages.success(request, str(text).format(number=job_id))
    else:
        messages.warning(
            request,
            _("Job {number} is {state}.").format(number=job_id, state=page["row"]["job"].get_state_display().lower()),
        )
    return back(request, "jobs")


def _job(job_id: int) -> Context:
    return present(job_page(job_id), "There is no such job.")


# --- sections ---------------------------------------------------------------------------------------------------------
@staff_get
def sections(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/sections.html", page=sections_page(now()))


@for_staff
def edit_section(request: HttpRequest, section_id: int | None = None) -> HttpResponse:
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
            stories.add_section(values, now=now())
        else:
            stories.edit_section(section.pk, values, now=now())
    except (NotASection, BadQuery) as problem:
        form.add_error(None, translate_reason(str(problem)))
        return False
    return True


@staff_post
def move_section(request: HttpRequest, section_id: int) -> HttpResponse:
    get_object_or_404(Section, pk=section_id)
    stories.move_section(section_id, up=request.POST.get("way") == "up")
    return redirect("sections")


@staff_post
def delete_section(request: HttpRequest, section_id: int) -> HttpResponse:
    section = get_object_or_404(Section, pk=section_id)
    stories.delete_section(section_id)
    messages.success(request, _("Section %(title)s deleted.") % {"title": section.title})
    return redirect("sections")
