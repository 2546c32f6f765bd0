"""Lists of postings, and a posting."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.timezone import localtime, now
from django.views.decorators.http import require_safe

from apps.accounts.models import User
from apps.following import actions as following_actions
from apps.following import queries as following
from apps.following.queries import Scope
from apps.postings.queries import BadCursor, Cursor
from apps.reading.pages.posting import posting_page
from apps.reading.pages.river import Arrangement, RiverPage, river_page
from apps.reading.pages.search_asked import storable
from apps.reading.views.rendering import PersonsRequest, Request, show
from apps.reading.views.summaries import asked_percent
from apps.stories import actions as stories_actions


@require_safe
@login_required
def river(request: PersonsRequest) -> HttpResponse:
    return _show(request, river_page(request.user, Scope("all"), "All postings", _arrangement(request), localtime()))


@require_safe
@login_required
def starred(request: PersonsRequest) -> HttpResponse:
    arrangement = _arrangement(request, all_by_default=True)
    return _show(request, river_page(request.user, Scope("starred"), "Starred", arrangement, localtime()))


@require_safe
@login_required
def tag(request: PersonsRequest, tag_id: int) -> HttpResponse:
    found = following.tag_of(request.user, tag_id)
    if found is None:
        raise Http404("You have no such tag.")
    arrangement = _arrangement(request, all_by_default=True)
    return _show(request, river_page(request.user, Scope("tag", found.pk), found.name, arrangement, localtime()))


@require_safe
@login_required
def folder(request: PersonsRequest, folder_id: int) -> HttpResponse:
    found = following.folder_of(request.user, folder_id)
    if found is None:
        raise Http404("You have no such folder.")
    return _show(
        request, river_page(request.user, Scope("folder", found.pk), found.name, _arrangement(request), localtime())
    )


@require_safe
def source(request: Request, source_id: int) -> HttpResponse:
    found = following.visible_sources(request.user).filter(pk=source_id).first()
    if found is None:
        raise Http404("There is no such source.")
    follow = following.follow_of(request.user, source_id)
    title = (follow.title if follow else "") or str(found)
    arrangement = _arrangement(request, all_by_default=follow is None)
    return _show(
        request, river_page(request.user, Scope("source", source_id), title, arrangement, localtime(), found, follow)
    )


@require_safe
def posting(request: Request, posting_id: int) -> HttpResponse:
    page = posting_page(request.user, posting_id, now(), asked_percent(request))
    if page is None:
        raise Http404("There is no such posting.")
    if request.user.is_authenticated and not _is_prefetch(request):
        stories_actions.note_opened(request.user, posting_id, now=page.now)
        if page.posting.unread:
            following_actions.mark_read(request.user, [posting_id], read=True, now=page.now)
            page.posting.unread = False
    return show(request, "reading/posting.html", at=Scope("source", page.posting.source_id), page=page)


def _show(request: Request, page: RiverPage) -> HttpResponse:
    # htmx asks for the rows that follow, to hang them below those which are there.
    if request.htmx and page.arrangement.start:
        return render(request, "reading/_rows.html", {"page": page, "now": page.now})
    return show(request, "reading/river.html", at=page.scope, page=page)


def _arrangement(request: Request, *, all_by_default: bool = False) -> Arrangement:
    """What the address asks for, or else what the person prefers."""
    person = request.user
    prefers_unread = person.is_authenticated and person.unread_only and not all_by_default
    preferred_order = person.order if person.is_authenticated else User.Order.NEWEST
    start = request.GET.get("start")
    try:
        cursor = Cursor.decode(start) if start else None
    except BadCursor as error:
        raise Http404(str(error)) from error
    order = request.GET.get("order")
    return Arrangement(
        unread_only={"unread": True, "all": False}.get(request.GET.get("show", ""), prefers_unread),
        order=User.Order(order if order in User.Order.values else preferred_order),
        start=cursor,
        words=storable(request.GET.get("q", "")).strip(),
    )


def _is_prefetch(request: Request) -> bool:
    """Browsers ask ahead for pages that nobody may ever look at."""
    purpose = f"{request.headers.get('Sec-Purpose', '')} {request.headers.get('Purpose', '')}"
    return "prefetch" in purpose or "prerender" in purpose
