"""Saved searches."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import errors_shown, person_get, person_post
from apps.database.sanitizing import sanitize
from apps.reading.pages.saved_searches import saved_search_rows
from apps.search.actions import saved as actions
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from apps.web.pages.search_query import address_of, explain
from apps.web.views.rendering import PersonsRequest, show


@person_get
def index(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/search_saved.html", searches=saved_search_rows(request.user))


@person_post
def save(request: PersonsRequest) -> HttpResponse:
    query = sanitize(request.POST.get("q", "")).strip()
    name = sanitize(request.POST.get("name", "")).strip() or query
    if not query:
        messages.error(request, _("There is nothing to save: enter a search first."))
        return redirect("search")
    order = request.POST.get("order")
    try:
        saved = actions.save_search(
            request.user,
            name,
            query,
            order=SavedSearch.Order(order if order in SavedSearch.Order.values else SavedSearch.Order.RELEVANCE),
            now=now(),
        )
    except (BadQuery, actions.NotSaved) as error:
        messages.error(request, explain(error) if isinstance(error, BadQuery) else str(error))
        return redirect("search")
    messages.success(request, _("Search saved."))
    return redirect(address_of(saved.query, saved.order))


@person_post
def change(request: PersonsRequest, saved_id: int) -> HttpResponse:
    """Rename or delete a search, or replace the addresses of its feed."""
    match request.POST.get("do"):
        case "forget":
            actions.forget_search(request.user, saved_id)
        case "move":
            actions.move_feed(request.user, saved_id)
            messages.success(request, _("New feed URLs created; the old ones no longer work."))
        case _:
            with errors_shown(request, actions.NotSaved):
                actions.rename_search(request.user, saved_id, sanitize(request.POST.get("name", "")))
    return redirect("saved_searches")
