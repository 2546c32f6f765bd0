"""Time zone and language of the user."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone, translation

from apps.accounts.queries.time_zones import browser_zone, zone_named

View = TypeVar("View", bound=Callable[..., Any])


def impersonal(view: View) -> View:
    """Mark a view that responds to all users alike, so that the user need not be read."""
    view.is_impersonal = True  # type: ignore[attr-defined]
    return view


class OwnZoneAndLanguage:
    """Activates time zone and language of the request; the language of visitors is set by Django's middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self._get_response(request)
        finally:
            timezone.deactivate()

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_: object) -> None:
        if not getattr(view, "is_impersonal", False):
            speak_to(request)


def speak_to(request: HttpRequest) -> None:
    """Activate the time zone and language of a signed-in user, and the browser's zone where none is chosen."""
    user = request.user
    if zone := (user.is_authenticated and user.time_zone) or browser_zone(request.COOKIES):
        timezone.activate(zone_named(zone))
    if user.is_authenticated and user.language:
        translation.activate(user.language)
        request.LANGUAGE_CODE = translation.get_language()
