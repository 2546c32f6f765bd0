"""The chosen theme: of users in their preferences, of visitors in a cookie."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from apps.accounts.models import User

COOKIE = "theme"


def chosen_theme(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    chosen = user.theme if user is not None and user.is_authenticated else request.COOKIES.get(COOKIE)
    return chosen if chosen in User.Theme.values else User.Theme.AUTO.value


def theme(request: HttpRequest) -> dict[str, object]:
    """Lazy, because only whole pages need the user."""
    return {"theme": SimpleLazyObject(lambda: chosen_theme(request))}


def remember(response: HttpResponse, *, theme: str, language: str) -> None:
    """Store the choices of a visitor in cookies: the language in the one that Django reads."""
    for name, value in ((COOKIE, theme), (settings.LANGUAGE_COOKIE_NAME, language)):
        if value and value != User.Theme.AUTO:
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
