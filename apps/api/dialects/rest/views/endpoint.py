"""Authentication, limits and headers of all operations."""

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

MAX_REQUESTS, WITHIN_SECONDS = 600, 60  # of a user
MAX_BODY_BYTES = 1_000_000
JSON = "application/json"
READING = {"GET", "HEAD"}


class Token(AuthBase):
    """An app token: reading needs the scope `read`, changing `write`."""

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
    """Count a request of a user in the current minute of the clock."""
    minute, passed = divmod(second, WITHIN_SECONDS)
    made = rate_limits.counted("api", f"{person.pk}:{minute}", seconds=2 * WITHIN_SECONDS)
    left = WITHIN_SECONDS - passed
    request.limit_headers = {  # type: ignore[attr-defined]
        "RateLimit-Limit": str(MAX_REQUESTS),
        "RateLimit-Remaining": str(max(MAX_REQUESTS - made, 0)),
        "RateLimit-Reset": str(left),
    }
    if made > MAX_REQUESTS:
        raise Impossible(f"At most {MAX_REQUESTS} requests a minute are answered.", 429, retry_after=left)


def through(
    view: Callable[..., HttpResponse], *, accepts: Collection[str] = (JSON,), largest: int = MAX_BODY_BYTES
) -> Callable[..., HttpResponse]:
    """A view with checked bodies and private responses."""

    @impersonal
    @csrf_exempt
    @wraps(view, assigned=("__name__", "__doc__"))  # the module stays this one
    def respond(request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponse:
        method, request.method = request.method, "GET" if request.method == "HEAD" else request.method
        with translation.override("en"):
            response = _refusal(request, accepts, largest) or view(request, *arguments, **named)
        request.method = method  # the body is dropped for HEAD
        if response.status_code == 204:
            del response["Content-Type"]
        if response.status_code == 405:
            allowed = response["Allow"]
            response = problem_response(f"This address takes {allowed}.", 405)
            response["Allow"] = allowed
        for name, value in getattr(request, "limit_headers", {}).items():
            response[name] = value
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Authorization"])
        return response

    return respond


def _refusal(request: HttpRequest, accepts: Collection[str], largest: int) -> HttpResponse | None:
    """The response to a body that is too large or of a wrong type."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or length == "0" or request.method in READING:
        return None
    if int(length[:18]) > largest:
        return problem_response(f"A body has at most {largest:,} bytes here.", 413)
    if request.content_type not in accepts:
        return problem_response(f"A body is sent as {' or '.join(accepts)} here.", 415)
    return None


def nowhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Any unknown address."""
    return problem_response("There is no such address.", 404)
