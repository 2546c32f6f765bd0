"""Authentication, errors and bodies of Miniflux' API."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.formats.parameters import BadRequest
from apps.api.views.access import Refused, person_of
from apps.api.views.errors import ERRORS, status_of
from extensions.dialects.miniflux.formats.parameters import Model, valid

MAX_JSON_BYTES = 500_000  # of a body: ten thousand ids, and more

Handler = Callable[..., HttpResponseBase]


def resource(**handlers: Handler) -> Handler:
    """A view with a handler per method, called with the user of the token. Only GET works with a read-only token."""

    @never_cache
    @csrf_exempt
    @impersonal
    @wraps(next(iter(handlers.values())))
    def respond(request: HttpRequest, **named: Any) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else str(request.method)
        try:
            scope = AppToken.Scope.READ if method == "GET" else AppToken.Scope.WRITE
            person = person_of(request, scope, now=now())
            if method not in handlers:
                return _error("This cannot be done here.", 405, {"Allow": ", ".join(handlers)})
            return handlers[method](request, person, **named)
        except Refused as refused:
            headers = {"WWW-Authenticate": 'Basic realm="Wirebeat"'} if refused.status == 401 else {}
            return _error(str(refused), refused.status, headers)
        except ERRORS as problem:
            return _error(str(problem) or "There is no such thing.", status_of(problem))

    return respond


def _error(words: str, status: int, headers: dict[str, str] | None = None) -> JsonResponse:
    return JsonResponse({"error_message": words}, status=status, headers=headers)


def unknown(request: HttpRequest, person: User, rest: str) -> HttpResponse:
    raise Http404("There is no such address.")


def done(status: int = 204) -> HttpResponse:
    """A response without body and type: some programs parse whatever has a type."""
    response = HttpResponse(status=status)
    del response["Content-Type"]
    return response


def json_of(request: HttpRequest, kind: type[Model]) -> Model:
    """The body, whatever its declared type: newsboat sends JSON as a form."""
    return valid(kind, body_of(request, MAX_JSON_BYTES))


def body_of(request: HttpRequest, most: int) -> bytes:
    if int(request.META.get("CONTENT_LENGTH") or 0) > most:
        raise BadRequest(f"The body is larger than {most:,} bytes.")
    return request.body
