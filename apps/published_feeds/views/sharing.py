"""A page shared from another site: its site can be followed, and its stored article starred."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.views.requests import PersonsRequest
from apps.published_feeds import pages


@require_safe
@login_required
def save(request: PersonsRequest) -> HttpResponse:
    """Offer actions for a page that a browser or the system shares; only a posted form changes anything."""
    shared = {name: request.GET.get(name, "") for name in ("url", "text", "title")}
    return render(request, "published_feeds/save.html", {"page": pages.save_page(request.user, **shared)})


@require_safe
@login_required
def buttons(request: PersonsRequest) -> HttpResponse:
    """Bookmarklets; the content security policy of our own pages blocks them here."""
    return render(request, "published_feeds/buttons.html", {"buttons": pages.buttons_page()})
