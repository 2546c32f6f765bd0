"""What all answers of Miniflux' API share: who is acted for, and errors in its form."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.formats.parameters import BadRequest, read_object
from apps.api.views.access import Refused, person_of
from apps.database.statement_timeout import TookTooLong
from apps.following.actions import NotPossible
from apps.retrieval.actions import TooOften
from apps.search.algorithms.language import BadQuery
from apps.search.queries import TooCostly

MAX_JSON_BYTES = 500_000  # bytes of a body: ten thousand numbers, and some more

Handler = Callable[..., HttpResponseBase]


class NotThere(Exception):
    """A person has nothing of that number."""


class NotAllowed(Exception):
    """Nobody may do that here; the message says why."""


_STATUSES: dict[type[Exception], int] = {
    BadRequest: 400,
    BadQuery: 400,
    TooOften: 429,  # before what it is one of
    NotPossible: 400,
    NotAllowed: 403,
    NotThere: 404,
    TooCostly: 503,
    TookTooLong: 503,
}


def resource(**handlers: Handler) -> Handler:
    """An address, with what answers each method for the person whose token comes with a request.

    Whatever is no GET needs a token that may change something.
    """

    @never_cache
    @csrf_exempt
    @impersonal
    @wraps(next(iter(handlers.values())))
    def answer(request: HttpRequest, **named: Any) -> HttpResponseBase:
        method = "GET" if request.method == "HEAD" else str(request.method)
        try:
            scope = AppToken.Scope.READ if method == "GET" else AppToken.Scope.WRITE
            person = person_of(request, scope, now=now())
            if method not in handlers:
                return _not_so(handlers)
            return handlers[method](request, person, **named)
        except Refused as refused:
            return _refusal(refused)
        except tuple(_STATUSES) as problem:
            status = next(status for kind, status in _STATUSES.items() if isinstance(problem, kind))
            return error(str(problem) or "There is no such thing.", status)

    return answer


def error(words: str, status: int) -> JsonResponse:
    return JsonResponse({"error_message": words}, status=status)


def _refusal(refused: Refused) -> JsonResponse:
    answer = error(str(refused), refused.status)
    if refused.status == 401:
        answer["WWW-Authenticate"] = 'Basic realm="Wirebeat"'
    return answer


def _not_so(handlers: dict[str, Handler]) -> JsonResponse:
    answer = error("This cannot be done here.", 405)
    answer["Allow"] = ", ".join(handlers)
    return answer


def done(status: int = 204) -> HttpResponse:
    """An answer without a body, and without a type: some programs read whatever claims to be something."""
    answer = HttpResponse(status=status)
    del answer["Content-Type"]
    return answer


def json_of(request: HttpRequest) -> dict[str, Any]:
    """The body, whatever type it claims to have: newsboat sends JSON as if it were a form."""
    return dict(read_object(body_of(request, MAX_JSON_BYTES)))


def body_of(request: HttpRequest, most: int) -> bytes:
    if int(request.META.get("CONTENT_LENGTH") or 0) > most:
        raise BadRequest(f"The body is larger than {most:,} bytes.")
    return request.body


def refused(words: str) -> Handler:
    """What a program may ask for and nobody may do."""

    def refuse(request: HttpRequest, person: User, **named: Any) -> HttpResponse:
        raise NotAllowed(words)

    return refuse
