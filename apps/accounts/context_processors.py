"""The look that somebody chose: people in their preferences, visitors in a cookie."""

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
    """For every template; who asks is only looked up where a whole page is rendered."""
    return {"theme": SimpleLazyObject(lambda: chosen_theme(request))}


def remember(answer: HttpResponse, *, theme: str, language: str) -> None:
    """Keep what a visitor chose in their browser: the language where Django looks for it."""
    for name, value in ((COOKIE, theme), (settings.LANGUAGE_COOKIE_NAME, language)):
        if value and value != User.Theme.AUTO:
            answer.set_cookie(
                name,
                value,
                max_age=settings.LANGUAGE_COOKIE_AGE,
                secure=settings.LANGUAGE_COOKIE_SECURE,
                httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
                samesite="Lax",
            )
        else:
            answer.delete_cookie(name, samesite="Lax")
