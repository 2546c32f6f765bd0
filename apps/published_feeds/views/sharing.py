"""A page that somebody found elsewhere: its site can be followed, and what is here of it can be starred."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.views.requests import PersonsRequest
from apps.published_feeds import pages


@require_safe
@login_required
def save(request: PersonsRequest) -> HttpResponse:
    """What may be done with a page that a browser or a system hands on; nothing is changed before a form says so."""
    said = {name: request.GET.get(name, "") for name in ("url", "text", "title")}
    return render(request, "published_feeds/save.html", {"page": pages.save_page(request.user, **said)})


@require_safe
@login_required
def buttons(request: PersonsRequest) -> HttpResponse:
    """Bookmarks that are little scripts; our pages' policy lets them run on other sites only."""
    return render(request, "published_feeds/buttons.html", {"buttons": pages.buttons_page()})
