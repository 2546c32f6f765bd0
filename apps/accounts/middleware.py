"""Times as the person who reads them would write them."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.accounts.zones import zone_named

View = TypeVar("View", bound=Callable[..., Any])


def impersonal(view: View) -> View:
    """Mark a view that is the same for everybody: who asks need not be looked up."""
    view.is_impersonal = True  # type: ignore[attr-defined]
    return view


class OwnZone:
    """Lets each request of somebody who has chosen a time zone be answered in it."""

    def __init__(self, answer: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._answer = answer

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self._answer(request)
        finally:
            timezone.deactivate()

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> None:
        if getattr(view, "is_impersonal", False):
            return
        user = request.user
        if user.is_authenticated and user.time_zone:
            timezone.activate(zone_named(user.time_zone))
