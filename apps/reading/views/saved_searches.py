"""Keeping searches, and reading them elsewhere."""

import re
from collections.abc import Iterable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.feedgenerator import Atom1Feed, Rss201rev2Feed
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _
from django.views.decorators.http import conditional_page, require_POST, require_safe

from apps.postings.models import Posting
from apps.reading.algorithms.addresses import web_address
from apps.reading.pages.saved_searches import address_of, newest_of, saved_searches_page
from apps.reading.pages.search_asked import said, storable
from apps.reading.views.rendering import PersonsRequest, Request, show
from apps.search.actions import saved as actions
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from apps.search.queries import TooCostly
from apps.search.queries.saved import saved_by_secret

MINUTES = 30  # that a reader may wait before it asks again
_FEEDS: dict[str, type[Rss201rev2Feed | Atom1Feed]] = {"rss": Rss201rev2Feed, "atom": Atom1Feed}
_JSON = "json"
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@require_safe
@login_required
def index(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/search_saved.html", page=saved_searches_page(request.user))


@require_POST
@login_required
def save(request: PersonsRequest) -> HttpResponse:
    query = storable(request.POST.get("q", "")).strip()
    name = storable(request.POST.get("name", "")).strip() or query
    if not query:
        messages.error(request, _("There is nothing to keep: write what to search for first."))
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
        messages.error(request, said(error) if isinstance(error, BadQuery) else str(error))
        return redirect("search")
    messages.success(request, _("“{name}” is among your searches.").format(name=saved.name))
    return redirect(address_of(saved))


@require_POST
@login_required
def change(request: PersonsRequest, saved_id: int) -> HttpResponse:
    """What its form asks for: another name, another address of the feed, or an end."""
    match request.POST.get("do"):
        case "forget":
            actions.forget_search(request.user, saved_id)
        case "move":
            actions.move_feed(request.user, saved_id)
            messages.success(request, _("Its feeds have new addresses; the old ones lead nowhere."))
        case _:
            try:
                actions.rename_search(request.user, saved_id, storable(request.POST.get("name", "")))
            except actions.NotSaved as error:
                messages.error(request, str(error))
    return redirect("saved_searches")


@require_safe
@conditional_page
def feed(request: Request, secret: str, kind: str) -> HttpResponse:
    """A saved search as RSS, Atom or JSON Feed, for whoever knows its address: other readers cannot sign in."""
    saved = saved_by_secret(secret)
    if saved is None or kind not in {*_FEEDS, _JSON}:
        raise Http404("There is no such search.")
    try:
        postings = newest_of(saved, localtime())
    except BadQuery as error:
        raise Http404(str(error)) from error
    except TooCostly as error:
        return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8")
    if kind == _JSON:
        answer: HttpResponse = JsonResponse(
            _as_json(saved, postings, request), content_type="application/feed+json; charset=utf-8"
        )
    else:
        written = _written(_FEEDS[kind], saved, postings, request)
        answer = HttpResponse(written.writeString("utf-8"), content_type=written.content_type)
    patch_cache_control(answer, private=True, max_age=60 * MINUTES)
    answer["X-Robots-Tag"] = "noindex"
    answer["Referrer-Policy"] = "no-referrer"
    return answer


def _written(
    form: type[Rss201rev2Feed | Atom1Feed], saved: SavedSearch, postings: Iterable[Posting], request: Request
) -> Rss201rev2Feed | Atom1Feed:
    written = form(
        title=_plain(f"{saved.name} – Wirebeat"),
        link=request.build_absolute_uri(address_of(saved)),
        description=_plain(f"Postings found by: {saved.query}"),
        feed_url=request.build_absolute_uri(),
        ttl=MINUTES,
    )
    for posting in postings:
        own_page = request.build_absolute_uri(reverse("posting", args=[posting.pk]))
        written.add_item(
            title=_plain(posting.title or posting.text[:80]) or "Untitled",
            link=_plain(web_address(posting.url)) or own_page,
            description=_plain(posting.html),
            pubdate=posting.published_at,
            unique_id=own_page,
            author_name=_plain(posting.author) or None,
            categories=[_plain(category) for category in posting.categories],
        )
    return written


def _as_json(saved: SavedSearch, postings: Iterable[Posting], request: Request) -> dict[str, object]:
    """As jsonfeed.org/version/1.1 has it."""
    items = []
    for posting in postings:
        own_page = request.build_absolute_uri(reverse("posting", args=[posting.pk]))
        item: dict[str, object] = {
            "id": own_page,
            "url": web_address(posting.url) or own_page,
            "title": posting.title or posting.text[:80],
            "content_html": posting.html,
            "date_published": posting.published_at.isoformat(),
            "tags": list(posting.categories),
        }
        if posting.author:
            item["authors"] = [{"name": posting.author}]
        if posting.language:
            item["language"] = posting.language
        items.append(item)
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"{saved.name} – Wirebeat",
        "home_page_url": request.build_absolute_uri(address_of(saved)),
        "feed_url": request.build_absolute_uri(),
        "description": f"Postings found by: {saved.query}",
        "items": items,
    }


def _plain(text: str) -> str:
    return _NOT_IN_XML.sub("", text)
