"""Trends."""

from django.http import HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.http import require_safe

from apps.reading.pages.trending import trends_page
from apps.reading.pages.trending_parameters import TrendingParameters
from apps.web.views.rendering import show


@require_safe
def trends(request: HttpRequest) -> HttpResponse:
    return show(
        request, "reading/trending.html", page=trends_page(request.user, TrendingParameters.read(request.GET), now())
    )
