"""Authentication, limits and headers of all operations."""

import json
import tomllib
from collections.abc import Callable, Collection
from datetime import date, datetime
from functools import cached_property, wraps
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.timezone import now
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import JSONRenderer
from ninja.responses import NinjaJSONEncoder
from ninja.security.base import AuthBase

from apps.accounts.actions import rate_limits
from apps.accounts.middleware import impersonal
from apps.accounts.models import AppToken, User
from apps.api.dialects.rest.views import problems
from apps.api.dialects.rest.views.problems import Impossible, problem_response
from apps.api.views.access import person_of

MAX_REQUESTS, WITHIN_SECONDS = 600, 60  # per user
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


def with_limits(
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


def unknown_address(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Any unknown address."""
    return problem_response("There is no such address.", 404)


# --- the API as a whole -----------------------------------------------------------------------------------------------
_TEXTS = tomllib.loads(Path(__file__).with_name("interface.toml").read_text("utf-8"))
_VOLATILE = {"shown_at", "milliseconds"}  # not part of entity tags


class _Encoder(NinjaJSONEncoder):
    """Times in microseconds: Django's encoder truncates them to milliseconds."""

    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime | date) else super().default(value)


class _Renderer(JSONRenderer):
    encoder_class = _Encoder
    json_dumps_params = {"ensure_ascii": False, "separators": (",", ":")}


class _Documentation(Swagger):
    """With Ninja's template and scripts, although Ninja is no installed app: each process would load it."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        settings = json.dumps(self.settings | {"url": self.get_openapi_url(api, kwargs)})
        return render(request, self.template, {"swagger_settings": settings, "api": api})


class Interface(NinjaAPI):
    def __init__(self) -> None:
        super().__init__(
            title="Wirebeat",
            version="1",
            description=_TEXTS["description"],
            urls_namespace="rest",
            auth=Token(),
            renderer=_Renderer(),
            docs=_Documentation(),
            openapi_extra={"tags": [{"name": name, "description": words} for name, words in _TEXTS["tags"].items()]},
        )
        problems.add_handlers(self)

    def create_response(self, request: HttpRequest, data: Any, **options: Any) -> HttpResponse:
        response = super().create_response(request, data, **options)
        if request.method != "GET" or response.status_code != HTTPStatus.OK:
            return response
        if isinstance(data, dict) and data.get("next"):
            query = request.GET.copy()
            query["cursor"] = data["next"]
            address = request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
            response["Link"] = f'<{address}>; rel="next"'
        response["ETag"] = etag = self._etag(request, data, response)
        conditional = get_conditional_response(request, etag=etag, response=response)
        if conditional is not None and conditional.status_code == HTTPStatus.PRECONDITION_FAILED:
            return problems.problem_response("What is there now is not what If-Match names.", 412)
        return conditional or response

    def _etag(self, request: HttpRequest, data: Any, response: HttpResponse) -> str:
        content = response.content
        if isinstance(data, dict) and not _VOLATILE.isdisjoint(data):
            lasting = {name: value for name, value in data.items() if name not in _VOLATILE}
            content = self.renderer.render(request, lasting, response_status=response.status_code).encode()
        return f'"{blake2b(content, digest_size=16).hexdigest()}"'

    # --- OpenAPI document ---------------------------------------------------------------------------------------------
    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, **_: Any) -> OpenAPISchema:
        return self._document

    @cached_property
    def _document(self) -> OpenAPISchema:
        document = super().get_openapi_schema()
        problem = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= problem.pop("$defs")
        document["components"]["schemas"]["Problem"] = problem
        for operations in document["paths"].values():
            for method, operation in operations.items():
                _describe(method, operation)
        as_text: OpenAPISchema = json.loads(json.dumps(document))  # turns statuses, which are keys, into texts
        return as_text


def _describe(method: str, operation: dict[str, Any]) -> None:
    """Add what all operations have in common."""
    operation["security"] = [{"Token": ["read" if method == "get" else "write"]}]
    places = {parameter["in"] for parameter in operation["parameters"]}
    statuses = {*operation["responses"], 401, 403, 429}
    statuses |= {404, 422} if "path" in places else set()
    statuses |= {422} if "query" in places else set()
    statuses |= {400, 413, 415, 422} if "requestBody" in operation else set()
    statuses |= {400} if any(parameter["name"] == "cursor" for parameter in operation["parameters"]) else set()
    statuses |= {304, 412} if method == "get" else set()
    own = operation["responses"]
    operation["responses"] = {status: _response(status, own.get(status, {})) for status in sorted(statuses)}


def _response(status: int, own: dict[str, Any]) -> dict[str, Any]:
    described = {"description": own.get("description") or HTTPStatus(status).phrase}
    if status >= 400:
        schema = {"$ref": "#/components/schemas/Problem"}
        return described | {"content": {problems.MEDIA_TYPE: {"schema": schema}}}
    return own | described
