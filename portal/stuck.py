"""The page of messages that were set aside, for staff."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.reading.views.rendering import show
from apps.reading.views.sources import for_staff
from portal import set_aside
from portal.models import StuckMessage

MOST = 100


@dataclass(frozen=True, slots=True)
class StuckPage:
    messages: tuple[StuckMessage, ...]  # the latest first
    tasks: frozenset[str]  # those that can be sent again
    now: datetime


@require_safe
@for_staff
def index(request: HttpRequest) -> HttpResponse:
    found = StuckMessage.objects.filter(set_aside_at__isnull=False).order_by("-set_aside_at", "pk")
    page = StuckPage(tuple(found[:MOST]), set_aside.known_tasks(), now())
    return show(request, "reading/desk_stuck.html", page=page)


@require_POST
@for_staff
def decide(request: HttpRequest) -> HttpResponse:
    """Send a message again, or discard it."""
    id = request.POST.get("id", "")[:200].replace("\x00", "")
    try:
        match request.POST.get("do"):
            case "send":
                is_done, said = set_aside.send_again(id), _("It will be sent again.")
            case "discard":
                is_done, said = set_aside.discard(id), _("Discarded.")
            case _:
                return HttpResponseBadRequest("Say send or discard.")
    except set_aside.NotSendable as problem:
        messages.error(request, str(problem))
        return redirect("stuck")
    if is_done:
        messages.success(request, said)
    else:
        messages.warning(request, _("Someone has already decided on it."))
    return redirect("stuck")
