"""The chosen theme and typesetting: of users in their preferences, of visitors in cookies."""

from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from apps.accounts.algorithms.typesetting import Typesetting
from apps.accounts.models import User

COOKIE, TYPESETTING_COOKIE = "theme", "typesetting"


def chosen_theme(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    chosen = user.theme if user is not None and user.is_authenticated else request.COOKIES.get(COOKIE)
    return chosen if chosen in User.Theme.values else settings.DEFAULT_THEME


def chosen_typesetting(request: HttpRequest) -> Typesetting:
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated:
        return Typesetting.read(user.typesetting)
    return Typesetting.read(request.COOKIES.get(TYPESETTING_COOKIE, ""))


def theme(request: HttpRequest) -> dict[str, object]:
    """Lazy, because only whole pages need the user."""
    return {
        "theme": SimpleLazyObject(lambda: chosen_theme(request)),
        "typesetting": SimpleLazyObject(lambda: chosen_typesetting(request)),
    }


def remember(response: HttpResponse, choices: Mapping[str, str]) -> None:
    """Store the choices of a visitor in cookies, by their names; defaults are not stored."""
    for name, value in choices.items():
        if value and value not in (settings.DEFAULT_THEME, Typesetting().written):
            response.set_cookie(
                name,
                value,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
                samesite="Lax",
            )
        else:
            response.delete_cookie(name, samesite="Lax")
