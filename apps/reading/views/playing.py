"""Playback positions, read and stored by a script of the page."""

from math import isfinite

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBadRequest, JsonResponse
from django.utils.timezone import now
from django.views.decorators.http import require_http_methods

from apps.accounts.views.requests import present
from apps.following import actions
from apps.following import queries as following
from apps.following.queries.posting_state import posting_state
from apps.reading.pages.attachments import attachments
from apps.web.algorithms.numbers import whole_number
from apps.web.views.rendering import PersonsRequest


@require_http_methods(["GET", "POST"])
@login_required
def position(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """The position as `number` of the recording and `seconds`; 0 s: at the beginning or the end."""
    posting = present(following.readable_by(request.user).filter(pk=posting_id).first(), "There is no such posting.")
    own = posting_state(request.user, posting_id) if request.method == "GET" else None
    carried = attachments(posting.enclosures, own.place if own else None)
    recordings = {each.number: each for each in carried if each.player}
    if request.method == "GET":
        at = next((each for each in recordings.values() if each.seconds), None)
        return JsonResponse({"number": at.number if at else None, "seconds": at.seconds if at else 0})
    number, seconds = whole_number(request.POST.get("number", "")), _seconds(request.POST.get("seconds", ""))
    if number is None or seconds is None:
        return HttpResponseBadRequest("Say which recording, and how many seconds of it.")
    recording = recordings.get(number)
    if recording is None:
        return HttpResponseBadRequest(f"The posting carries no recording {number}.")
    if seconds < 1:
        actions.forget_position(request.user, posting_id)
    else:
        actions.save_position(request.user, posting_id, recording.address, seconds, now=now())
    return HttpResponse(status=204)


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None
