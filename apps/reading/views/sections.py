"""Pages of the front page's sections."""

from django.http import Http404, HttpResponse
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from apps.published_feeds.pages import menu_of_section
from apps.reading.pages.sections import section_page
from apps.stories.models import Section
from apps.stories.queries.sections import section_named
from apps.web.views.rendering import Request, show

LAST_PAGE = 100


@require_safe
def section(request: Request, slug: str) -> HttpResponse:
    said = request.GET.get("page", "")
    number = min(max(int(said), 1), LAST_PAGE) if said.isascii() and said.isdecimal() and len(said) < 5 else 1
    page = section_page(request.user, _shown(slug), number, now())
    return show(request, "reading/section.html", page=page, feeds=menu_of_section(slug))


def _shown(slug: str) -> Section:
    found = section_named(slug)
    if found is None or not found.is_on:
        raise Http404("There is no such section.")
    return found
