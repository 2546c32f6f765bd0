"""The health of followed sources."""

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import person_get, person_post
from apps.feed_health import actions
from apps.reading.pages.feed_health import health_page
from apps.web.algorithms.numbers import whole_number
from apps.web.views.rendering import PersonsRequest, back, show


@person_get
def index(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/feed_health.html", page=health_page(request.user, request.GET.get("page", "1")))


@person_post
def dismiss(request: PersonsRequest, notice_id: int) -> HttpResponse:
    if not actions.dismiss(request.user, notice_id, now=now()):
        raise Http404("You have no such notice.")
    return back(request, "feed_health")


@person_post
def dismiss_all(request: PersonsRequest) -> HttpResponse:
    up_to = whole_number(request.POST.get("up_to", ""))
    if up_to is None:
        return HttpResponseBadRequest("The notices are not named.", content_type="text/plain; charset=utf-8")
    actions.dismiss_all(request.user, up_to=up_to, now=now())
    return back(request, "feed_health")


@person_post
def set_mail(request: PersonsRequest) -> HttpResponse:
    wanted = request.POST.get("by_mail") == "yes"
    if wanted and not request.user.email:
        messages.error(request, _("Your account has no e-mail address."))
    else:
        actions.set_mail(request.user, is_wanted=wanted, now=now())
        messages.success(
            request, _("You now also get notices by mail.") if wanted else _("You no longer get notices by mail.")
        )
    return back(request, "feed_health")
