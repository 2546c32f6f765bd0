"""The plan of retrievals of all sources, and of one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import for_staff, present, staff_get
from apps.dashboard.forms.plan import PlanForm
from apps.dashboard.pages.plan import plan_page
from apps.dashboard.pages.source_plan import source_plan_page
from apps.retrieval import actions
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import by, show


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
        actions.change_plan(**form.cleaned_data, by=by(request, "the plan"))
    except ValueError as problem:
        form.add_error(None, _("This plan is not possible: {problem}.").format(problem=translate_reason(str(problem))))
        return False
    return True


@staff_get
def of_source(request: HttpRequest, source_id: int) -> HttpResponse:
    page = present(source_plan_page(request.user, source_id, now()), "There is no such source.")
    return show(request, "dashboard/source_plan.html", page=page)
