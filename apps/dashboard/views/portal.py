"""What concerns the portal as a whole: the plan of its retrievals, its jobs, and the sections of its front page."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect
from django.utils.functional import Promise
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.models import User
from apps.accounts.views.requests import errors_shown, for_staff, present, staff_get, staff_post
from apps.dashboard import actions
from apps.dashboard.forms.portal import PlanForm, RetentionForm, SectionForm
from apps.dashboard.pages import overview as pages
from apps.dashboard.pages.jobs import job_page, jobs_page
from apps.dashboard.pages.plan import plan_page, source_plan_page
from apps.dashboard.pages.storage import storage_page
from apps.jobs import actions as jobs
from apps.jobs.actions import dead_letters as dead
from apps.retrieval import actions as retrieval
from apps.search.algorithms.language import BadQuery
from apps.sources import queries as sources
from apps.sources.actions import curating
from apps.stories import actions as stories
from apps.stories.actions.sections import NotASection
from apps.stories.models import Section
from apps.web.pages import Context
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import PersonsRequest, back, by, filter_words, show


@for_staff
def plan(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        form = PlanForm(request.POST)
        if form.is_valid() and _changed(request, form):
            messages.success(request, _("Saved. All feeds are rescheduled within a minute."))
            return redirect("plan")
    page = plan_page(
        words=filter_words(request),
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
    "pause": (jobs.claiming.pause, gettext_lazy("Job {number} paused; its workers stop within seconds.")),
    "resume": (jobs.claiming.resume, gettext_lazy("Job {number} resumed.")),
    "cancel": (jobs.claiming.cancel, gettext_lazy("Job {number} cancelled; finished parts are kept.")),
    "retry": (jobs.claiming.try_again, gettext_lazy("Retrying job {number}.")),
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
        job, is_new = jobs.claiming.create(request.POST.get("kind", ""), requested_by=request.user.get_username())
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
    return show(request, "dashboard/sections.html", page=pages.sections_page(now()))


@for_staff
def edit_section(request: HttpRequest, section_id: int | None = None) -> HttpResponse:
    """Edit a section, or add one."""
    section = get_object_or_404(Section, pk=section_id) if section_id is not None else None
    form = SectionForm(request.POST or None, section=section)
    if request.method == "POST" and form.is_valid() and _saved(form, form.cleaned_data, section):
        messages.success(request, _("Saved. The front page is updated shortly."))
        return redirect("sections")
    known = sources.categories(sources.listed())
    return show(request, "dashboard/section_form.html", form=form, section=section, categories=known)


def _saved(form: SectionForm, values: dict[str, Any], section: Section | None) -> bool:
    try:
        if section is None:
            stories.sections.add_section(values, now=now())
        else:
            stories.sections.edit_section(section.pk, values, now=now())
    except (NotASection, BadQuery) as problem:
        form.add_error(None, translate_reason(str(problem)))
        return False
    return True


@staff_post
def move_section(request: HttpRequest, section_id: int) -> HttpResponse:
    get_object_or_404(Section, pk=section_id)
    stories.sections.move_section(section_id, up=request.POST.get("way") == "up")
    return redirect("sections")


@staff_post
def delete_section(request: HttpRequest, section_id: int) -> HttpResponse:
    section = get_object_or_404(Section, pk=section_id)
    stories.sections.delete_section(section_id)
    messages.success(request, _("Section %(title)s deleted.") % {"title": section.title})
    return redirect("sections")


# --- overview and lists -----------------------------------------------------------------------------------------------


@staff_get
def overview(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/overview.html", page=pages.overview_page(now()))


@staff_get
def failing(request: PersonsRequest) -> HttpResponse:
    """Sources whose latest check failed."""
    page = pages.failing_page(request.user, filter_words(request), request.GET.get("page", "1"))
    return show(request, "dashboard/failing.html", page=page)


@staff_get
def queues(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/queues.html", page=pages.queues_page(now()))


@staff_get
def dead_letters(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/dead_letters.html", page=pages.dead_letters_page())


@staff_post
def decide_dead_letter(request: HttpRequest) -> HttpResponse:
    """Send a message again, or discard it."""
    decisions = {
        "send": (dead.send_again, _("It will be sent again.")),
        "discard": (dead.discard, _("Discarded.")),
    }
    if request.POST.get("do") not in decisions:
        return HttpResponseBadRequest("Say send or discard.")
    decide, text = decisions[request.POST["do"]]
    with errors_shown(request, dead.NotSendable):
        if decide(request.POST.get("id", "")[:200].replace("\x00", "")):
            messages.success(request, text)
        else:
            messages.warning(request, _("Someone has already decided on it."))
    return redirect("dead_letters")


@staff_get
def people(request: HttpRequest) -> HttpResponse:
    given = request.GET.get
    page = pages.people_page(filter_words(request), given("state", ""), given("sort", ""), given("page", "1"), now())
    return show(request, "dashboard/people.html", page=page)


@for_staff
def storage(request: HttpRequest) -> HttpResponse:
    """Sizes, and how long articles are kept."""
    form = RetentionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        curating.set_retention(**form.cleaned_data, by=by(request, "storage"))
        messages.success(request, _("Saved. Expired articles are deleted each night."))
        return redirect("dashboard_storage")
    return show(request, "dashboard/storage.html", page=storage_page(now()), form=form)


@staff_post
def set_active(request: PersonsRequest, user_id: int) -> HttpResponse:
    """Enable or disable an account: not one's own, and an admin's only as a superuser."""
    person = User.objects.filter(pk=user_id).first()
    wanted = request.POST.get("active")
    if person is None or wanted not in ("yes", "no"):
        raise Http404("There is no such person.")
    name = {"name": person.get_username()}
    if person.pk == request.user.pk:
        messages.error(request, _("You cannot disable your own account."))
    elif (person.is_staff or person.is_superuser) and not request.user.is_superuser:
        messages.error(request, _("Only a superuser can disable another administrator."))
    elif not actions.set_active(user_id, active=wanted == "yes", by=by(request, "the list of people")):
        messages.info(request, _("Nothing changed."))
    elif wanted == "yes":
        messages.success(request, _("%(name)s can sign in again.") % name)
    else:
        messages.success(request, _("%(name)s has been signed out and can no longer sign in.") % name)
    return back(request, "dashboard_users")
