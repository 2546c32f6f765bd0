"""Addresses for newsletters, and mails of senders that are to be confirmed."""

from django.conf import settings
from django.contrib import messages
from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import errors_shown, person_get, person_post
from apps.database.sanitizing import sanitize
from apps.following.actions.errors import NotPossible
from apps.newsletters import actions
from apps.newsletters.models import HeldLetter, Newsletter
from apps.web.algorithms.numbers import whole_number
from apps.web.views.rendering import PersonsRequest, show


@person_get
def newsletters(request: PersonsRequest) -> HttpResponse:
    held = Prefetch("held", HeldLetter.objects.defer("content"))  # up to 100 MB of each newsletter
    mine = Newsletter.objects.filter(user=request.user).select_related("source").prefetch_related(held)
    site = sanitize(request.GET.get("site", ""))[:300]
    return show(
        request,
        "reading/newsletters.html",
        newsletters=mine.order_by("source__title", "pk"),
        domain=settings.NEWSLETTER_DOMAIN,
        site=site,
    )


@person_post
def change_newsletter(request: PersonsRequest) -> HttpResponse:
    """Add an address, remove one, or decide about a mail that waits."""
    number = whole_number(request.POST.get("number", "")) or 0
    match request.POST.get("do"):
        case "remove" if actions.remove_newsletter(request.user, number):
            messages.success(request, _("Newsletter and its mails deleted. Unsubscribe from it at its sender, too."))
        case "confirm" if actions.confirm_sender(request.user, number, now=now()):
            messages.success(request, _("Sender confirmed."))
        case "refuse" if actions.refuse_letter(request.user, number):
            messages.success(request, _("Mail deleted."))
        case "add":
            with errors_shown(request, NotPossible):
                name, site = (request.POST.get(field, "")[:300] for field in ("name", "site"))
                actions.add_newsletter(request.user, name, site, now=now())
                messages.success(request, _("Enter the new address where you subscribe to the newsletter."))
    return redirect("newsletters")
