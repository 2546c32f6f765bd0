"""Jobs and their controls."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.views.requests import present, staff_get, staff_post
from apps.dashboard.pages.jobs import job_page, jobs_page
from apps.jobs import actions
from apps.web.pages import Context
from apps.web.views.rendering import PersonsRequest, back, show

CHANGES: dict[str, tuple[Callable[[int], bool], Promise]] = {
    "pause": (actions.pause, gettext_lazy("Job {number} paused; its workers stop within seconds.")),
    "resume": (actions.resume, gettext_lazy("Job {number} resumed.")),
    "cancel": (actions.cancel, gettext_lazy("Job {number} cancelled; finished parts are kept.")),
    "retry": (actions.try_again, gettext_lazy("Retrying job {number}.")),
}


@staff_get
def index(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/jobs.html", part="dashboard/_jobs.html", page=jobs_page())


@staff_get
def detail(request: HttpRequest, job_id: int) -> HttpResponse:
    return show(request, "dashboard/job.html", part="dashboard/_job.html", page=_page(job_id))


@staff_post
def start(request: PersonsRequest) -> HttpResponse:
    try:
        job, is_new = actions.create(request.POST.get("kind", ""), requested_by=request.user.get_username())
    except LookupError as error:
        raise Http404("There is no such kind of job.") from error
    if is_new:
        messages.success(request, _("Job {number} created; workers start within seconds.").format(number=job.pk))
    else:
        messages.info(request, _("Job {number} already does this and is still running.").format(number=job.pk))
    return redirect("job", job.pk)


@staff_post
def change(request: HttpRequest, job_id: int, what: str) -> HttpResponse:
    page = _page(job_id)
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


def _page(job_id: int) -> Context:
    return present(job_page(job_id), "There is no such job.")
