"""Search and its help."""

from django.http import Http404, HttpResponse
from django.utils.timezone import localtime
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.postings.queries import BadCursor
from apps.reading.pages.search import search_page
from apps.reading.pages.search_help import EXAMPLES
from apps.search.queries import TooCostly
from apps.web.pages.search_query import SearchQuery
from apps.web.views.rendering import Request, show


@require_safe
@vary_on_headers("HX-Request", "HX-Target")  # or going back would show a piece of a page for the whole
def search(request: Request) -> HttpResponse:
    query = SearchQuery.read(request.GET)
    try:
        page = search_page(request.user, query, localtime())
    except BadCursor as error:
        raise Http404(str(error)) from error
    except TooCostly as error:
        return show(request, "reading/search_costly.html", status=503, query=query, message=str(error))
    part = "reading/_search_rows.html" if query.start else ""
    if request.htmx.target == "found":
        part = part or "reading/_search_found.html"
    return show(request, "reading/search.html", part=part, page=page)


@require_safe
def search_help(request: Request) -> HttpResponse:
    return show(request, "reading/search_help.html", examples=EXAMPLES)
