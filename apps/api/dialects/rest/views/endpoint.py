"""What every request passes on its way in, and every answer on its way out."""

from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from ninja.security.base import AuthBase

from apps.accounts.actions import rate_limits
from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.dialects.rest.views.problems import Impossible, problem_response
from apps.api.views.access import person_of

MOST_REQUESTS, WITHIN = 600, 60  # of a person, in so many seconds
MAX_BODY_BYTES = 1_000_000  # bytes
JSON = "application/json"
READING = {"GET", "HEAD"}


class Token(AuthBase):
    """An app token: `read` is enough to look, whatever changes something needs `write`."""

    openapi_type = "http"
    openapi_scheme = "bearer"
    openapi_description = (
        "An app token of yours: make one under Account, App tokens. It allows reading, changing (`write`), or both."
    )

    def __call__(self, request: HttpRequest) -> User:
        moment = now()
        scope = AppToken.Scope.READ if request.method in READING else AppToken.Scope.WRITE
        person = person_of(request, scope, now=moment)
        _count(request, person, int(moment.timestamp()))
        request.user = person
        return person


def _count(request: HttpRequest, person: User, second: int) -> None:
    """One more request of a person, who has so many in each minute of the clock."""
    minute, passed = divmod(second, WITHIN)
    made = rate_limits.counted("api", f"{person.pk}:{minute}", seconds=2 * WITHIN)
    left = WITHIN - passed
    request.limit_headers = {  # type: ignore[attr-defined]
        "RateLimit-Limit": str(MOST_REQUESTS),
        "RateLimit-Remaining": str(max(MOST_REQUESTS - made, 0)),
        "RateLimit-Reset": str(left),
    }
    if made > MOST_REQUESTS:
        raise Impossible(f"At most {MOST_REQUESTS} requests a minute are answered.", 429, retry_after=left)


def through(
    view: Callable[..., HttpResponse], *, accepts: Collection[str] = (JSON,), largest: int = MAX_BODY_BYTES
) -> Callable[..., HttpResponse]:
    """A view whose requests are looked at before it reads them, and whose answers belong to whoever asked."""

    @impersonal
    @csrf_exempt
    @wraps(view, assigned=("__name__", "__doc__"))  # it is of this module, whatever it wraps
    def answered(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
        asked, request.method = request.method, "GET" if request.method == "HEAD" else request.method
        with translation.override("en"):
            answer = _refusal(request, accepts, largest) or view(request, *arguments, **named)
        request.method = asked  # to HEAD no body is sent
        if answer.status_code == 204:
            del answer["Content-Type"]
        if answer.status_code == 405:
            allowed = answer["Allow"]
            answer = problem_response(f"This address takes {allowed}.", 405)
            answer["Allow"] = allowed
        for name, value in getattr(request, "limit_headers", {}).items():
            answer[name] = value
        if not answer.has_header("Cache-Control"):
            patch_cache_control(answer, private=True, no_cache=True)
        patch_vary_headers(answer, ["Authorization"])
        return answer

    return answered


def _refusal(request: HttpRequest, accepts: Collection[str], largest: int) -> HttpResponse | None:
    """Why a body is not even read."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or length == "0" or request.method in READING:
        return None
    if int(length[:18]) > largest:
        return problem_response(f"A body has at most {largest:,} bytes here.", 413)
    if request.content_type not in accepts:
        return problem_response(f"A body is sent as {' or '.join(accepts)} here.", 415)
    return None


def nowhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """What no address of the interface stands for."""
    return problem_response("There is no such address.", 404)
