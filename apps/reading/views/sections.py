"""Pages of the front page's sections."""

from django.http import Http404, HttpResponse
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from apps.published_feeds.pages import menu_of_section
from apps.reading.pages.sections import section_page
from apps.stories.queries.sections import section_named
from apps.web.views.rendering import Request, page_number, show


@require_safe
def section(request: Request, slug: str) -> HttpResponse:
    found = section_named(slug)
    if found is None or not found.is_on:
        raise Http404("There is no such section.")
    page = section_page(request.user, found, page_number(request), now())
    return show(request, "reading/section.html", page=page, feeds=menu_of_section(slug))
