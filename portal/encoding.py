"""Encodings: text of URLs and forms is UTF-8 (URL Standard, 5.1), whatever the header of a request names."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


def reading_utf8(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: Django would decode queries by any codec of Python's, and some of those raise for any text.

    Documents in a body are decoded by their own parsers, which read the header themselves.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.encoding and request.encoding.lower() != "utf-8":
            request.encoding = "utf-8"
        return get_response(request)

    return middleware


class CompressedStaticFiles(GZipMiddleware):
    """Compresses static files without padding, which would take a kilobyte of a page: they hold no secrets."""

    max_random_bytes = 0

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_static = request.path.startswith(settings.STATIC_URL)
        return super().process_response(request, response) if is_static else response
