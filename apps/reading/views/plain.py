"""Pages that need little: the front door, help, and the sign of life."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from apps.accounts.middleware import impersonal
from apps.reading.pages.home import home_page
from apps.reading.views.rendering import show


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("river")
    return show(request, "reading/home.html", page=home_page(now()))


@impersonal
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    return show(request, "reading/keys.html")
