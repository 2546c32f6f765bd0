"""The front page, and help on keys."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.http import require_safe
from django.views.defaults import page_not_found

from apps.accounts.middleware import speak_to
from apps.reading.pages.home import home_page
from apps.web.views.rendering import show


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("river")
    page = home_page(now())
    if settings.SIGN_UP == "closed" and not settings.STARTER_EDITION and not (page["rows"] or page["cards"]):
        return redirect("account_login")  # nothing is meant for visitors
    return show(request, "reading/home.html", page=page)


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    return show(request, "reading/keys.html")


def not_there(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Outside of views the user's language is not yet active."""
    speak_to(request)
    return page_not_found(request, exception)
