"""Trends, as a page and as feeds."""

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from apps.reading.pages.trending import trends_page
from apps.reading.pages.trending_asked import Asked
from apps.reading.pages.trending_feed import trends_feed
from apps.reading.views.rendering import show


@require_safe
def trends(request: HttpRequest) -> HttpResponse:
    return show(request, "reading/trending.html", page=trends_page(request.user, Asked.read(request.GET), now()))


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    asked = Asked.read(request.GET)
    written = trends_feed(asked, request.GET.get("horizon", "day"), request.build_absolute_uri)
    if written is None:
        raise Http404("There is no such list of trends.")
    return HttpResponse(written, content_type="application/rss+xml; charset=utf-8")
