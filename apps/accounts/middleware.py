"""Times as the person who reads them would write them."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

Answer = Callable[[HttpRequest], HttpResponseBase]


def in_own_zone(answer: Answer) -> Answer:
    """Let each request of somebody who has chosen a time zone be answered in it."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        user = request.user
        chosen = user.time_zone if user.is_authenticated else ""
        if not chosen:
            return answer(request)
        with timezone.override(ZoneInfo(chosen)):
            return answer(request)

    return answered
