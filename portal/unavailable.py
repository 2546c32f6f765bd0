"""The error page while the database is unavailable."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.csrf import requires_csrf_token
from django.views.defaults import server_error

RETRY_AFTER = 5  # s


@requires_csrf_token
def answer(request: HttpRequest) -> HttpResponse:
    """503 if the database could not be reached, else 500."""
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        headers = {"Retry-After": str(RETRY_AFTER), "Cache-Control": "no-store"}
        return HttpResponse(render_to_string("503.html"), status=503, headers=headers)
    return server_error(request)
