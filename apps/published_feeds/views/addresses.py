"""A person's private addresses: list, create, renew and delete."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.views.requests import PersonsRequest
from apps.published_feeds import actions, pages


@never_cache
@require_safe
@login_required
def index(request: PersonsRequest) -> HttpResponse:
    return render(request, "published_feeds/addresses.html", {"page": pages.addresses_page(request.user)})


@require_POST
@login_required
def make(request: PersonsRequest) -> HttpResponse:
    """Create an address for the list named in the form."""
    kind, _dash, number = request.POST.get("list", "").partition("-")
    try:
        list_id = int(number) if number.isascii() and number.isdecimal() and len(number) <= 18 else 0
        made = actions.make_address(request.user, kind, list_id, now=now())
    except actions.NoSuchList as error:
        raise Http404("You have no such list.") from error
    return redirect(f"{reverse('private_addresses')}#address-{made.pk}")


@require_POST
@login_required
def change(request: PersonsRequest, address_id: int) -> HttpResponse:
    """Replace or delete a list's address."""
    if request.POST.get("do") == "end":
        done = actions.end_address(request.user, address_id)
        message = _("The private URLs no longer work.")
    else:
        done = actions.renew_address(request.user, address_id, now=now())
        message = _("New private URLs created; the old ones no longer work.")
    if not done:
        raise Http404("You have no such address.")
    messages.success(request, message)
    return redirect("private_addresses")


# --- a page shared from another site ----------------------------------------------------------------------------------
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
