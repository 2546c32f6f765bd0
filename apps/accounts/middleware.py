"""Times and words as the person who reads them would write them."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone, translation

from apps.accounts.queries.time_zones import zone_named

View = TypeVar("View", bound=Callable[..., Any])


def impersonal(view: View) -> View:
    """Mark a view that is the same for everybody: who asks need not be looked up."""
    view.is_impersonal = True  # type: ignore[attr-defined]
    return view


class OwnZoneAndLanguage:
    """Lets each request of somebody who has chosen a time zone, or a language, be answered in it.

    Of visitors, and of people who have chosen none, Django's own middleware has found the language before.
    """

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
        speak_to(request)


def speak_to(request: HttpRequest) -> None:
    """Answer the rest of a request in the zone and the language of whoever is signed in."""
    user = request.user
    if not user.is_authenticated:
        return
    if user.time_zone:
        timezone.activate(zone_named(user.time_zone))
    if user.language:
        translation.activate(user.language)
        request.LANGUAGE_CODE = translation.get_language()
