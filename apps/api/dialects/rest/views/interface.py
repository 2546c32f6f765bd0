"""The API as a whole: responses, entity tags and its OpenAPI document."""

import json
import tomllib
from datetime import date, datetime
from functools import cached_property
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import JSONRenderer
from ninja.responses import NinjaJSONEncoder

from apps.api.dialects.rest.views import problems
from apps.api.dialects.rest.views.endpoint import Token

_TEXTS = tomllib.loads(Path(__file__).with_name("interface.toml").read_text("utf-8"))
_VOLATILE = {"shown_at", "milliseconds"}  # not part of entity tags


class _Encoder(NinjaJSONEncoder):
    """Times in microseconds: Django's encoder truncates them to milliseconds."""

    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime | date) else super().default(value)


class _Renderer(JSONRenderer):
    encoder_class = _Encoder
    json_dumps_params = {"ensure_ascii": False, "separators": (",", ":")}


class Interface(NinjaAPI):
    def __init__(self) -> None:
        super().__init__(
            title="Wirebeat",
            version="1",
            description=_TEXTS["description"],
            urls_namespace="rest",
            auth=Token(),
            renderer=_Renderer(),
            openapi_extra={"tags": [{"name": name, "description": words} for name, words in _TEXTS["tags"].items()]},
        )
        problems.add_handlers(self)

    def create_response(
        self,
        request: HttpRequest,
        data: Any,
        *,
        status: int | None = None,
        temporal_response: HttpResponse | None = None,
    ) -> HttpResponse:
        response = super().create_response(request, data, status=status, temporal_response=temporal_response)
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

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
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
