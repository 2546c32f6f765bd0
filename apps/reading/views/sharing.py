"""Shared postings, each at a secret address."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.accounts.views.requests import errors_shown, person_get, person_post, present
from apps.following import actions
from apps.published_feeds.pages import menu_of_shared
from apps.reading.pages.own import shares_page
from apps.reading.pages.shared import shared_page
from apps.web.views.rendering import PersonsRequest, Request, back, require_readable, show


@person_post
def share(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Share a posting, or stop sharing it."""
    if request.POST.get("do") == "end":
        if actions.unshare(request.user, posting_id):
            messages.success(request, _("The link no longer works."))
        return back(request, "shares")
    require_readable(request.user, posting_id)
    with errors_shown(request, actions.NotPossible):
        actions.share(request.user, posting_id, now=now())
    return redirect(reverse("posting", args=[posting_id]) + "#share")


@person_get
def shares(request: PersonsRequest) -> HttpResponse:
    page = shares_page(request.user, request.GET.get("page", ""))
    return show(request, "reading/shares.html", page=page, feeds=menu_of_shared(request.user))


@require_safe
def shared(request: Request, share_secret: str) -> HttpResponse:
    """Public for those who know the address, which neither search engines nor other sites learn."""
    page = present(shared_page(share_secret), "Nothing is shared at this address, or no longer.")
    response = show(request, "reading/shared.html", alone=True, page=page)
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "private, no-store"  # no longer visible once sharing ends
    return response
