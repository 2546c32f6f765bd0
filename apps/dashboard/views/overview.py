"""The dashboard's overview, failing feeds, queues, users and storage."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.views.requests import errors_shown, staff_get, staff_post
from apps.dashboard import actions
from apps.dashboard.pages.lists import dead_letters_page, failing_page, people_page, queues_page, storage_page
from apps.dashboard.pages.overview import overview_page
from apps.jobs.actions import dead_letters as dead
from apps.web.views.rendering import PersonsRequest, back, by, show

MAX_WORDS = 200


@staff_get
def overview(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/overview.html", page=overview_page(now()))


@staff_get
def failing(request: PersonsRequest) -> HttpResponse:
    """Sources whose latest check failed."""
    given = request.GET
    page = failing_page(request.user, _words(request), given.get("sort", ""), given.get("page", "1"))
    return show(request, "dashboard/failing.html", page=page)


@staff_get
def queues(request: HttpRequest) -> HttpResponse:
    page = queues_page(now(), with_workers="workers" in request.GET)
    return show(request, "dashboard/queues.html", page=page)


@staff_get
def dead_letters(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/dead_letters.html", page=dead_letters_page())


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
    given = request.GET
    page = people_page(_words(request), given.get("state", ""), given.get("sort", ""), given.get("page", "1"), now())
    return show(request, "dashboard/people.html", page=page)


@staff_get
def storage(request: HttpRequest) -> HttpResponse:
    return show(request, "dashboard/storage.html", page=storage_page(now()))


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


def _words(request: HttpRequest) -> str:
    return request.GET.get("words", "").replace("\x00", "")[:MAX_WORDS]
